#include "heed/generation/lockstep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

// Calls the model's reorder unless no row changes.
void reorder(StepModel& model, std::span<const std::int64_t> from) {
  bool same = std::ssize(from) == model.rows();
  for (std::size_t i = 0; same && i < from.size(); ++i) {
    same = from[i] == static_cast<std::int64_t>(i);
  }
  if (!same) model.reorder(from);
}

// Adds the log-probability of a token to a hypothesis.
void add(Hypothesis& hypothesis, float log_probability) {
  hypothesis.log_probability += log_probability;
  hypothesis.token_log_probabilities.push_back(log_probability);
}

}  // namespace

Lockstep::Lockstep(StepModel& model, std::span<const Start> starts, const SearchPlan& plan,
                   std::int64_t copies, ChangedScores changed)
    : model_(model), plan_(plan), changed_(changed), vocabulary_(model.vocabulary()) {
  HEED_CHECK(std::ssize(starts) == model.rows(),
             "[search] {} sentences for a model of {} rows: it must be one row for each",
             starts.size(), model.rows());
  for (const std::int32_t end : plan.ends) {
    HEED_CHECK(end >= 0 && end < vocabulary_,
               "[search] the end token {} is not among the model's {} tokens", end, vocabulary_);
  }
  std::vector<std::int64_t> from;
  for (std::int64_t sentence = 0; sentence < std::ssize(starts); ++sentence) {
    const Start& start = starts[index(sentence)];
    for (const std::int32_t token : start.forced) {
      HEED_CHECK(token >= 0 && token < vocabulary_,
                 "[search] the forced token {} is not among the model's {} tokens", token,
                 vocabulary_);
    }
    forced_.push_back(start.forced);
    longest_.push_back(
        std::max(longest_result(plan.options, start.source_length), std::ssize(start.forced)));
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      sequences_.push_back({.sentence = sentence, .copy = copy});
      last_.push_back(start.token);
      from.push_back(sentence);
    }
  }
  if (!from.empty()) reorder(model_, from);
}

bool Lockstep::full(std::int64_t row) const {
  const Sequence& s = sequence(row);
  return std::ssize(s.so_far.tokens) >= longest(s.sentence);
}

bool Lockstep::is_forced(std::int64_t row) const {
  return sequence(row).so_far.tokens.size() < forced(row).size();
}

void Lockstep::collect_banned() {
  banned_ = {.renormalised = plan_.renormalised};
  std::vector<std::int32_t> found;
  for (const Sequence& s : sequences_) {
    found.clear();
    for (const Rule& rule : plan_.rules) rule(s.so_far.tokens, found);
    std::erase_if(found, [&](std::int32_t token) { return token < 0 || token >= vocabulary_; });
    std::sort(found.begin(), found.end());
    banned_.tokens.insert(banned_.tokens.end(), found.begin(),
                          std::unique(found.begin(), found.end()));
    banned_.starts.push_back(std::ssize(banned_.tokens));
  }
}

void Lockstep::check_scores() const {
  for (std::int64_t row = 0; row < rows(); ++row) {
    HEED_CHECK(!std::isnan(best_.normalisers[index(row)].log_total),
               "[search] sentence {} of the batch, token {}: the model's scores hold NaN or +inf; "
               "are its weights those of a training run that diverged?",
               sequence(row).sentence, sequence(row).so_far.tokens.size());
  }
}

void Lockstep::step(std::int64_t k) {
  const NoGrad no_grad;
  scores_ = model_.step(last_);
  HEED_CHECK(scores_.rows() == rows() && scores_.vocabulary() == vocabulary_,
             "[search] the model gave scores [{}, {}]: they must be [{}, {}]", scores_.rows(),
             scores_.vocabulary(), rows(), vocabulary_);
  collect_banned();
  scores_.find_best(k, banned_, best_);
  check_scores();
  if (is_changed()) change_scores();
}

void Lockstep::change_scores() {
  Tensor changed = clone_data(scores_.all());
  for (std::int64_t row = 0; row < rows(); ++row) {
    const std::span<float> scores =
        changed.mutable_values<float>().subspan(index(row * vocabulary_), index(vocabulary_));
    if (changed_ == ChangedScores::log_probabilities) {
      for (float& score : scores) score = best_.normalisers[index(row)](score);
    }
    for (const ScoreChange& change : plan_.changes) change(sequence(row).so_far.tokens, scores);
  }
  changed_scores_ = TokenScores(changed);
  changed_scores_.find_best(best_.k, banned_, best_changed_);
}

std::span<const std::int32_t> Lockstep::likeliest(std::int64_t row) const {
  std::span<const std::int32_t> found = chosen().of(row);
  const std::size_t one = std::min<std::size_t>(1, found.size());
  if (is_forced(row)) {
    return std::span(forced(row)).subspan(sequence(row).so_far.tokens.size(), one);
  }
  if (full(row)) found = std::span(plan_.ends).first(one);
  // A score above -inf can still have a log-probability of -inf if another score is far larger.
  const auto possible = [&](std::int32_t token) {
    return token != kernels::kNoToken && std::isfinite(log_probability(row, token));
  };
  while (!found.empty() && !possible(found.back())) found = found.first(found.size() - 1);
  return found;
}

float Lockstep::log_probability(std::int64_t row, std::int32_t token) const {
  if (is_forced(row) || (plan_.is_end_certain && full(row))) return 0.0f;
  return best_.normalisers[index(row)](score_of(row, token));
}

float Lockstep::score_of(std::int64_t row, std::int32_t token) const {
  if (plan_.renormalised && std::ranges::binary_search(banned(row), token)) {
    return -std::numeric_limits<float>::infinity();
  }
  const std::span<const std::int32_t> best = best_.of(row);
  const auto found = std::ranges::find(best, token);
  return found == best.end() ? scores_.of(row, token)
                             : best_.logits[index(row * best_.k) + index(found - best.begin())];
}

float Lockstep::gain(std::int64_t row, std::int32_t token) const {
  if (is_forced(row) || (plan_.is_end_certain && full(row))) return 0.0f;
  const bool takes_changed = is_changed() && changed_ == ChangedScores::log_probabilities;
  return takes_changed ? scores(row)[static_cast<std::size_t>(token)] : log_probability(row, token);
}

std::span<const float> Lockstep::scores(std::int64_t row) const {
  return (is_changed() ? changed_scores_ : scores_).row(row);
}

std::span<const std::int32_t> Lockstep::banned(std::int64_t row) const { return banned_.of(row); }

bool Lockstep::is_end(std::int32_t token) const {
  return std::ranges::find(plan_.ends, token) != plan_.ends.end();
}

std::optional<Finish> Lockstep::finish(const Extension& extension) const {
  if (is_end(extension.token)) return full(extension.row) ? Finish::length : Finish::end;
  const Sequence& s = sequence(extension.row);
  if (plan_.stop) {
    std::vector<std::int32_t> tokens = s.so_far.tokens;
    tokens.push_back(extension.token);
    if (plan_.stop(tokens)) return Finish::stop;
  }
  const bool is_last = std::ssize(s.so_far.tokens) + 1 >= longest(s.sentence);
  return plan_.is_cut && is_last ? std::optional(Finish::length) : std::nullopt;
}

Hypothesis Lockstep::finished(const Extension& extension, Finish finish) const {
  Hypothesis hypothesis = sequence(extension.row).so_far;
  if (!is_end(extension.token)) hypothesis.tokens.push_back(extension.token);
  add(hypothesis, log_probability(extension.row, extension.token));
  const auto length = std::ssize(hypothesis.token_log_probabilities);
  const double rank = sequence(extension.row).rank + gain(extension.row, extension.token);
  hypothesis.score = rank / length_divisor(plan_.options, length);
  hypothesis.finish = finish;
  hypothesis.row = extension.row;
  return hypothesis;
}

void Lockstep::advance(std::span<const Extension> extensions) {
  std::vector<Sequence> next;
  std::vector<std::int64_t> from;
  last_.clear();
  for (const Extension& extension : extensions) {
    Sequence s = sequence(extension.row);
    s.so_far.tokens.push_back(extension.token);
    add(s.so_far, log_probability(extension.row, extension.token));
    s.rank += gain(extension.row, extension.token);
    next.push_back(std::move(s));
    from.push_back(extension.row);
    last_.push_back(extension.token);
  }
  sequences_ = std::move(next);
  if (!from.empty()) reorder(model_, from);
}

}  // namespace heed
