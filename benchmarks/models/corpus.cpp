#include "benchmarks/models/corpus.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "heed/base/random.h"
#include "heed/data/parallel_text.h"

namespace heed::bench {
namespace {

constexpr std::uint64_t kSeed = 20240229;
constexpr std::int64_t kPairs = 29000;

std::filesystem::path corpus_folder() {
  const char* const folder = std::getenv("HEED_DATA");
  return std::filesystem::path(folder == nullptr ? HEED_SHARED_DATA_DEFAULT : folder) /
         "multi30k-bpe-wu2021";
}

bool corpus_there() { return std::filesystem::exists(corpus_folder() / "train.en.gz"); }

std::int32_t words_of(std::string_view line) {
  return static_cast<std::int32_t>(std::ranges::count(line, ' ')) + 1;
}

std::vector<PairLength> real_lengths() {
  ParallelText text(corpus_folder() / "train.en.gz", corpus_folder() / "train.de.gz");
  std::vector<PairLength> lengths;
  for (TextPair pair; text.next(pair);) {
    lengths.push_back({words_of(pair.source), words_of(pair.target)});
  }
  return lengths;
}

// Sources of 6 to 24 words, about 15 on average, and targets of similar length.
std::vector<PairLength> drawn_lengths() {
  Generator generator(kSeed);
  const RandomStream first = generator.next(), second = generator.next(), third = generator.next();
  std::vector<PairLength> lengths;
  for (std::uint64_t i = 0; i < kPairs; ++i) {
    const auto source = static_cast<std::int32_t>(6 + first.below(i, 10) + second.below(i, 10));
    lengths.push_back({source, source - 2 + static_cast<std::int32_t>(third.below(i, 6))});
  }
  return lengths;
}

}  // namespace

std::vector<Batch> multi30k_batches(const CorpusShape& shape) {
  const SpecialTokens special;
  const std::int32_t words = special.padding + 1;  // the first token that is a word
  Generator generator(kSeed);
  const auto row = [&](std::int32_t length) {
    const RandomStream stream = generator.next();
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(length));
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto range = static_cast<std::uint32_t>(shape.vocabulary - words);
      tokens[i] = words + static_cast<std::int32_t>(stream.below(i, range));
    }
    return tokens;
  };
  ParallelCorpus corpus({special, special}, {});
  for (const PairLength& length : corpus_there() ? real_lengths() : drawn_lengths()) {
    corpus.add(row(length.source), row(length.target));
  }
  const BatchPlan plan =
      plan_epoch(corpus.lengths(), {.batch_tokens = shape.batch_tokens, .shuffle = false}, 0);
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < shape.batches; ++i) {
    batches.push_back(
        make_batch(corpus, plan.rows((2 * i + 1) * plan.size() / (2 * shape.batches))));
  }
  return batches;
}

std::vector<NamedTensor> with_batches(std::vector<NamedTensor> tensors,
                                      std::span<const Batch> batches) {
  for (std::size_t i = 0; i < batches.size(); ++i) {
    tensors.push_back({fmt::format("batch.{}.source", i), batches[i].source});
    tensors.push_back({fmt::format("batch.{}.lengths", i), batches[i].source_lengths});
    tensors.push_back({fmt::format("batch.{}.target", i), batches[i].target});
    tensors.push_back({fmt::format("batch.{}.expected", i), batches[i].expected});
  }
  return tensors;
}

std::string lengths_source() {
  return corpus_there() ? "sentence lengths of Multi30k"
                        : "sentence lengths drawn to be like Multi30k's, which is absent";
}

}  // namespace heed::bench
