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
  banned_.clear();
  banned_starts_.assign(1, 0);
  std::vector<std::int32_t> found;
  for (const Sequence& s : sequences_) {
    found.clear();
    for (const Rule& rule : plan_.rules) rule(s.so_far.tokens, found);
    std::erase_if(found, [&](std::int32_t token) { return token < 0 || token >= vocabulary_; });
    std::sort(found.begin(), found.end());
    banned_.insert(banned_.end(), found.begin(), std::unique(found.begin(), found.end()));
    banned_starts_.push_back(std::ssize(banned_));
  }
}

void Lockstep::renormalise() {
  float* const scores = model_scores_.values.mutable_data<float>();
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (const std::int32_t token : banned(row)) {
      scores[row * vocabulary_ + token] = -std::numeric_limits<float>::infinity();
    }
  }
}

void Lockstep::check_scores() const {
  for (std::int64_t row = 0; row < rows(); ++row) {
    HEED_CHECK(!std::isnan(model_scores_.normalisers[index(row)].log_total),
               "[search] sentence {} of the batch, token {}: the model's scores hold NaN or +inf; "
               "are its weights those of a training run that diverged?",
               sequence(row).sentence, sequence(row).so_far.tokens.size());
  }
}

void Lockstep::step(std::int64_t k) {
  const NoGrad no_grad;
  const Tensor logits = contiguous_copy(model_.step(last_));
  HEED_CHECK(logits.shape() == (Shape{rows(), vocabulary_}) && logits.dtype() == DType::f32,
             "[search] the model gave scores {} of {}: they must be [{}, {}] of f32",
             to_string(logits.shape()), name_of(logits.dtype()), rows(), vocabulary_);
  collect_banned();
  k_ = k;
  model_scores_.values = logits;
  if (plan_.renormalised) renormalise();
  find_likeliest(model_scores_);
  check_scores();
  if (!plan_.changes.empty()) change_scores();
}

void Lockstep::find_likeliest(Scores& scores) {
  scores.normalisers.resize(sequences_.size());
  likeliest_.resize(sequences_.size() * index(k_));
  kernels::likeliest(kernels::LikeliestCall<float>{.rows = {rows(), vocabulary_},
                                                   .k = k_,
                                                   .logits = scores.values.data<float>(),
                                                   .banned_starts = banned_starts_.data(),
                                                   .banned = banned_.data(),
                                                   .normalisers = scores.normalisers.data(),
                                                   .tokens = likeliest_.data()});
}

void Lockstep::change_scores() {
  changed_scores_.values = clone_data(model_scores_.values);
  for (std::int64_t row = 0; row < rows(); ++row) {
    const std::span<float> scores = changed_scores_.values.mutable_values<float>().subspan(
        index(row * vocabulary_), index(vocabulary_));
    if (changed_ == ChangedScores::log_probabilities) {
      for (float& score : scores) score = model_scores_.normalisers[index(row)](score);
    }
    for (const ScoreChange& change : plan_.changes) change(sequence(row).so_far.tokens, scores);
  }
  find_likeliest(changed_scores_);
}

std::span<const std::int32_t> Lockstep::likeliest(std::int64_t row) const {
  std::span<const std::int32_t> found = std::span(likeliest_).subspan(index(row * k_), index(k_));
  const std::size_t one = index(std::min<std::int64_t>(1, k_));
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
  const float logit = row_of(model_scores_, row)[static_cast<std::size_t>(token)];
  return model_scores_.normalisers[index(row)](logit);
}

float Lockstep::gain(std::int64_t row, std::int32_t token) const {
  if (is_forced(row) || (plan_.is_end_certain && full(row))) return 0.0f;
  const bool is_changed = !plan_.changes.empty() && changed_ == ChangedScores::log_probabilities;
  return is_changed ? scores(row)[static_cast<std::size_t>(token)] : log_probability(row, token);
}

std::span<const float> Lockstep::scores(std::int64_t row) const { return row_of(chosen(), row); }

std::span<const float> Lockstep::row_of(const Scores& scores, std::int64_t row) const {
  return scores.values.values<float>().subspan(index(row * vocabulary_), index(vocabulary_));
}

std::span<const std::int32_t> Lockstep::banned(std::int64_t row) const {
  return std::span(banned_).subspan(
      index(banned_starts_[index(row)]),
      index(banned_starts_[index(row + 1)] - banned_starts_[index(row)]));
}

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
