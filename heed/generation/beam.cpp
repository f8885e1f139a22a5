#include "heed/generation/beam.h"

#include <algorithm>
#include <limits>

namespace heed {
namespace {

// An extension of a hypothesis by one token.
struct Candidate {
  double rank;  // including the token: the log-probability with the changes of the plan
  Extension extension;
};

// The maximum number of tokens that count in the score of a result of at most `tokens` tokens.
std::int64_t longest_scored(const SearchPlan& plan, std::int64_t tokens) {
  const bool has_end = !plan.is_cut || tokens == 0;
  return tokens + (has_end && tokens < std::numeric_limits<std::int64_t>::max() ? 1 : 0);
}

// The number of tokens of a row that may be among the best: beam_size that continue it, and those
// that complete it. Any token may complete a stop string; beam_size of them are expected at most.
std::int64_t tokens_of_row(const SearchPlan& plan) {
  return plan.options.beam_size * (plan.stop ? 2 : 1) + std::ssize(plan.ends);
}

// The finished results of one sentence, best score first, the earlier one first among equals.
class Finished {
 public:
  Finished(const SearchPlan& plan, std::int64_t longest)
      : options_(plan.options),
        is_bounded_(options_.presence_penalty >= 0.0 && options_.frequency_penalty >= 0.0),
        greatest_divisor_(length_divisor(plan.options, longest_scored(plan, longest))) {}

  void add(Hypothesis hypothesis) {
    if (options_.stopping == Stopping::first && full()) return;
    const auto worse = [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; };
    found_.insert(std::upper_bound(found_.begin(), found_.end(), hypothesis, worse),
                  std::move(hypothesis));
    if (std::ssize(found_) > kept()) found_.pop_back();
  }

  // Whether running hypotheses can still change the result, by the rank of the best of them, which
  // has that many tokens. A rank only decreases, unless repetition is rewarded.
  bool hopeful(double rank, std::int64_t tokens) const {
    if (!full()) return true;
    if (options_.stopping == Stopping::first) return false;
    const bool is_exact = options_.stopping == Stopping::exact;
    const double divisor = is_exact ? greatest_divisor_ : length_divisor(options_, tokens);
    return (is_exact && !is_bounded_) || rank / divisor > found_.back().score;
  }

  NBest take() {
    if (std::ssize(found_) > options_.n_best)
      found_.resize(static_cast<std::size_t>(options_.n_best));
    return std::move(found_);
  }

 private:
  // How many results decide when to stop.
  std::int64_t kept() const {
    return options_.stopping == Stopping::exact ? options_.n_best : options_.beam_size;
  }
  bool full() const { return std::ssize(found_) >= kept(); }

  const SearchOptions& options_;
  bool is_bounded_;
  double greatest_divisor_;
  NBest found_;
};

// All extensions of the rows [begin, end) of one sentence that can be among its beam_size best,
// best first.
std::vector<Candidate> candidates(const Lockstep& lockstep, std::int64_t begin, std::int64_t end) {
  std::vector<Candidate> all;
  for (std::int64_t row = begin; row < end; ++row) {
    const double so_far = lockstep.sequence(row).rank;
    for (const std::int32_t token : lockstep.likeliest(row)) {
      all.push_back({so_far + lockstep.gain(row, token), {row, token}});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank > b.rank; });
  return all;
}

class Beam : public SentenceSearch {
 public:
  explicit Beam(const SearchSentence& sentence)
      : plan_(sentence.plan), finished_(*plan_, longest_of(sentence)) {}

  SearchNeeds needs() const override {
    return {.tokens = tokens_of_row(*plan_), .changed = ChangedScores::log_probabilities};
  }
  void choose(const Lockstep& lockstep, std::int64_t begin, std::int64_t end,
              std::vector<Extension>& extensions) override;
  NBest take() override { return finished_.take(); }

 private:
  std::shared_ptr<const SearchPlan> plan_;
  Finished finished_;
};

void Beam::choose(const Lockstep& lockstep, std::int64_t begin, std::int64_t end,
                  std::vector<Extension>& extensions) {
  const std::vector<Candidate> all = candidates(lockstep, begin, end);
  const auto beam = static_cast<std::size_t>(plan_->options.beam_size);
  const std::span<const Candidate> best = std::span(all).first(std::min(beam, all.size()));
  std::vector<bool> is_complete;
  for (const Candidate& c : best) {
    const std::optional<Finish> finish = lockstep.finish(c.extension);
    is_complete.push_back(finish.has_value());
    if (finish) finished_.add(lockstep.finished(c.extension, *finish));
  }
  // All hypotheses of a sentence have the same length, so those that cannot change the result come
  // last, and so do all their extensions: dropping them does not affect the others. An estimate
  // keeps all or none.
  const bool is_exact = plan_->options.stopping == Stopping::exact;
  std::size_t running = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Candidate& c = all[i];
    if (running == beam) break;
    const std::int64_t tokens = 1 + std::ssize(lockstep.sequence(c.extension.row).so_far.tokens);
    if ((is_exact || running == 0) && !finished_.hopeful(c.rank, tokens)) break;
    if (i < best.size() ? is_complete[i] : lockstep.finish(c.extension).has_value()) continue;
    extensions.push_back(c.extension);
    ++running;
  }
}

}  // namespace

std::unique_ptr<SentenceSearch> make_beam(const SearchSentence& sentence) {
  return std::make_unique<Beam>(sentence);
}

std::vector<NBest> beam_search(StepModel& model, std::span<const Start> starts,
                               const SearchPlan& plan) {
  return run_searches(model, starts, plan, make_beam);
}

}  // namespace heed
