#include "heed/generation/beam.h"

#include <algorithm>
#include <limits>

#include "heed/generation/lockstep.h"

namespace heed {
namespace {

// An extension of a hypothesis by one token.
struct Candidate {
  double log_probability;  // including the token
  Extension extension;
};

// The number of tokens with the end token.
std::int64_t with_end(std::int64_t tokens) {
  return tokens + (tokens < std::numeric_limits<std::int64_t>::max() ? 1 : 0);
}

// The finished results of one sentence, best score first, the earlier one first among equals.
class Finished {
 public:
  Finished(const SearchOptions& options, std::int64_t longest)
      : options_(options), greatest_divisor_(length_divisor(options, with_end(longest))) {}

  void add(Hypothesis hypothesis) {
    if (options_.stopping == Stopping::first && full()) return;
    const auto worse = [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; };
    found_.insert(std::upper_bound(found_.begin(), found_.end(), hypothesis, worse),
                  std::move(hypothesis));
    if (options_.stopping == Stopping::exact && std::ssize(found_) > options_.n_best) {
      found_.pop_back();
    }
  }

  // Whether a running hypothesis can still change the result. All hypotheses of a sentence have the
  // same length, so those that cannot come last, and so do all their extensions: dropping them does
  // not affect the others.
  bool hopeful(double log_probability) const {
    if (!full()) return true;
    return options_.stopping == Stopping::exact &&
           log_probability / greatest_divisor_ > found_.back().score;
  }

  NBest take() {
    if (std::ssize(found_) > options_.n_best)
      found_.resize(static_cast<std::size_t>(options_.n_best));
    return std::move(found_);
  }

 private:
  bool full() const {
    const bool exact = options_.stopping == Stopping::exact;
    return std::ssize(found_) >= (exact ? options_.n_best : options_.beam_size);
  }

  const SearchOptions& options_;
  double greatest_divisor_;
  NBest found_;
};

// All extensions of the rows [begin, end) of one sentence that can be among its beam_size best,
// best first.
std::vector<Candidate> candidates(const Lockstep& lockstep, std::int64_t begin, std::int64_t end) {
  std::vector<Candidate> all;
  for (std::int64_t row = begin; row < end; ++row) {
    const double so_far = lockstep.sequence(row).so_far.log_probability;
    for (const std::int32_t token : lockstep.likeliest(row)) {
      const double total = so_far + lockstep.log_probability(row, token);
      all.push_back({total, {row, token}});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return a.log_probability > b.log_probability;
  });
  return all;
}

// Finishes the candidates of one sentence that end, and adds those that continue to `extensions`.
void choose(const Lockstep& lockstep, const SearchPlan& plan, std::span<const Candidate> candidates,
            Finished& finished, std::vector<Extension>& extensions) {
  const auto beam = static_cast<std::size_t>(plan.options.beam_size);
  for (const Candidate& c : candidates.first(std::min(beam, candidates.size()))) {
    if (c.extension.token == plan.end) finished.add(lockstep.finished(c.extension.row));
  }
  std::size_t running = 0;
  for (const Candidate& c : candidates) {
    if (running == beam || !finished.hopeful(c.log_probability)) break;
    if (c.extension.token == plan.end) continue;
    extensions.push_back(c.extension);
    ++running;
  }
}

}  // namespace

std::vector<NBest> beam_search(StepModel& model, std::span<const Start> starts,
                               const SearchPlan& plan) {
  Lockstep lockstep(model, starts, plan);
  std::vector<Finished> finished;
  for (std::int64_t i = 0; i < lockstep.sentences(); ++i) {
    finished.emplace_back(plan.options, lockstep.longest(i));
  }
  std::vector<Extension> extensions;
  while (lockstep.rows() > 0) {
    lockstep.step(plan.options.beam_size +
                  1);  // a row contributes at most beam_size tokens and an end token
    extensions.clear();
    for (std::int64_t begin = 0, end = 0; begin < lockstep.rows(); begin = end) {
      const std::int64_t sentence = lockstep.sequence(begin).sentence;
      while (end < lockstep.rows() && lockstep.sequence(end).sentence == sentence) ++end;
      choose(lockstep, plan, candidates(lockstep, begin, end),
             finished[static_cast<std::size_t>(sentence)], extensions);
    }
    lockstep.advance(extensions);
  }
  std::vector<NBest> results;
  results.reserve(finished.size());
  for (Finished& found : finished) results.push_back(found.take());
  return results;
}

}  // namespace heed
