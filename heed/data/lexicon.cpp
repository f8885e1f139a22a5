#include "heed/data/lexicon.h"

#include <algorithm>
#include <span>

#include "heed/base/interrupt.h"
#include "heed/io/config.h"

namespace heed {
namespace {

// A pair of tokens as one number, so that pairs are sorted by source. Source tokens are counted
// from 1: 0 is the empty one.
using PairKey = std::uint64_t;

PairKey key_of(std::int64_t source, std::int32_t target) {
  return static_cast<PairKey>(source) << 32 | static_cast<std::uint32_t>(target);
}
std::int64_t source_of(PairKey key) { return static_cast<std::int64_t>(key >> 32); }
std::int32_t target_of(PairKey key) { return static_cast<std::int32_t>(key & 0xffffffff); }

// The tokens of a source sentence, with the empty one.
std::vector<std::int64_t> with_empty(std::span<const std::int32_t> source) {
  std::vector<std::int64_t> all = {0};
  for (const std::int32_t token : source) all.push_back(std::int64_t{token} + 1);
  return all;
}

void sort_unique(std::vector<PairKey>& keys) {
  std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
}

// All pairs of tokens that are in one pair of sentences.
std::vector<PairKey> pairs_in(const ParallelCorpus& corpus) {
  std::vector<PairKey> keys;
  std::size_t next = std::size_t{1} << 20;  // size at which repeated pairs are removed
  for (std::int64_t i = 0; i < corpus.size(); ++i) {
    for (const std::int64_t source : with_empty(corpus.source(i))) {
      for (const std::int32_t target : corpus.target(i)) keys.push_back(key_of(source, target));
    }
    if (keys.size() < next) continue;
    check_interrupt();
    sort_unique(keys);
    next = std::max(next, 2 * keys.size());
  }
  sort_unique(keys);
  return keys;
}

class Model1 {
 public:
  explicit Model1(const ParallelCorpus& corpus)
      : corpus_(corpus), keys_(pairs_in(corpus)), probabilities_(keys_.size(), 1.0) {
    normalise();
  }

  void iterate() {
    std::vector<double> counts(keys_.size());
    std::vector<std::size_t> places;  // of one target token with each source token
    for (std::int64_t i = 0; i < corpus_.size(); ++i) {
      if (i % 1000 == 0) check_interrupt();
      const std::vector<std::int64_t> sources = with_empty(corpus_.source(i));
      for (const std::int32_t target : corpus_.target(i)) {
        places.clear();
        double total = 0.0;
        for (const std::int64_t source : sources) {
          places.push_back(place_of(key_of(source, target)));
          total += probabilities_[places.back()];
        }
        if (total <= 0.0) continue;  // all were rounded to 0
        for (const std::size_t place : places) counts[place] += probabilities_[place] / total;
      }
    }
    probabilities_ = std::move(counts);
    normalise();
  }

  std::vector<LexicalEntry> table(const LexiconOptions& options) const {
    std::vector<LexicalEntry> all;
    for (std::size_t begin = 0; begin < keys_.size();) {
      const std::size_t end = end_of(begin);
      std::vector<LexicalEntry> found;
      for (std::size_t i = begin; i < end; ++i) {
        if (probabilities_[i] < options.min_probability) continue;
        found.push_back({static_cast<std::int32_t>(source_of(keys_[i]) - 1), target_of(keys_[i]),
                         probabilities_[i]});
      }
      const bool is_empty = source_of(keys_[begin]) == 0;
      begin = end;
      if (is_empty) continue;
      std::ranges::stable_sort(found, std::greater<>(), &LexicalEntry::probability);
      found.resize(std::min(found.size(), static_cast<std::size_t>(options.best)));
      all.insert(all.end(), found.begin(), found.end());
    }
    return all;
  }

 private:
  std::size_t place_of(PairKey key) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(keys_, key) - keys_.begin());
  }
  // The end of the pairs with the same source.
  std::size_t end_of(std::size_t begin) const {
    return place_of(key_of(source_of(keys_[begin]) + 1, 0));
  }

  // The probabilities of the targets of a source add up to 1.
  void normalise() {
    for (std::size_t begin = 0; begin < keys_.size();) {
      const std::size_t end = end_of(begin);
      double total = 0.0;
      for (std::size_t i = begin; i < end; ++i) total += probabilities_[i];
      for (std::size_t i = begin; i < end && total > 0.0; ++i) probabilities_[i] /= total;
      begin = end;
    }
  }

  const ParallelCorpus& corpus_;
  std::vector<PairKey> keys_;          // sorted
  std::vector<double> probabilities_;  // of each key
};

}  // namespace

void LexiconOptions::fields(io::Fields& field) {
  field("best", best, "target tokens listed for a source token, at most", {.min = 1});
  field("iterations", iterations, "iterations of the estimation", {.min = 1, .max = 1000});
  field("min_probability", min_probability, "less probable target tokens are left out",
        {.min = 0.0, .max = 1.0});
}

std::vector<LexicalEntry> estimate_lexicon(const ParallelCorpus& corpus,
                                           const LexiconOptions& options) {
  io::check_limits(options, "lexicon");
  Model1 model(corpus);
  for (std::int64_t i = 0; i < options.iterations; ++i) model.iterate();
  return model.table(options);
}

}  // namespace heed
