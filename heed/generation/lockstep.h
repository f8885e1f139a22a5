// The sequences of a batch that a search extends together, one token a step: what all searches
// share. It feeds the model, looks at the scores under the rules, and drops from the model what the
// search does not carry on. What it is not: a choice of tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/plan.h"
#include "heed/generation/step_model.h"
#include "heed/kernels/likeliest.h"

namespace heed {

/// One sequence in progress.
struct Sequence {
  std::int64_t sentence = 0;  ///< Its place in the batch.
  std::int64_t copy = 0;      ///< Which of the sentence's copies it began as.
  Hypothesis so_far = {};     ///< Without end, so without score.
};

/// A sequence and the token it goes on with.
struct Extension {
  std::int64_t row;
  std::int32_t token;
};

class Lockstep {
 public:
  /// Begins `copies` sequences of each sentence; the model has one row per sentence, in order.
  Lockstep(StepModel& model, std::span<const Start> starts, const SearchPlan& plan,
           std::int64_t copies = 1);

  /// The sequences, ordered by sentence; they are the model's rows.
  std::span<const Sequence> sequences() const { return sequences_; }
  std::int64_t rows() const { return std::ssize(sequences_); }
  const Sequence& sequence(std::int64_t row) const { return sequences_[index(row)]; }
  std::int64_t sentences() const { return std::ssize(longest_); }
  /// The most tokens that a sentence may get.
  std::int64_t longest(std::int64_t sentence) const { return longest_[index(sentence)]; }
  /// Whether a sequence has all the tokens it may have: nothing but the end may follow.
  bool full(std::int64_t row) const;

  /// Feeds the last tokens and finds the k likeliest next ones. Throws heed::Error when a score is
  /// NaN or +inf.
  void step(std::int64_t k);

  // After a step:
  /// At most k tokens that may follow, likeliest first, among equals the lowest first; none of
  /// probability 0.
  std::span<const std::int32_t> likeliest(std::int64_t row) const;
  /// Of a token after a sequence, by the model.
  float log_probability(std::int64_t row, std::int32_t token) const;
  /// The scores of all tokens, before the softmax; [V].
  std::span<const float> scores(std::int64_t row) const;
  /// What subtracts from a score to make it a log-probability.
  const kernels::LogNormaliser<float>& normaliser(std::int64_t row) const {
    return normalisers_[index(row)];
  }
  /// The tokens that the rules forbid, rising.
  std::span<const std::int32_t> banned(std::int64_t row) const;
  /// The sequence, ended.
  Hypothesis finished(std::int64_t row) const;

  /// Goes on with these sequences only, each with one more token; ordered by sentence.
  void advance(std::span<const Extension> extensions);

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  void collect_banned();
  void check_scores() const;

  StepModel& model_;
  const SearchPlan& plan_;
  std::int64_t vocabulary_;
  std::vector<std::int64_t> longest_;  // [sentences]
  std::vector<Sequence> sequences_;
  std::vector<std::int32_t> last_;  // the token of each row that the model has not seen

  Tensor logits_;  // [rows, V]
  std::vector<kernels::LogNormaliser<float>> normalisers_;
  std::int64_t k_ = 0;
  std::vector<std::int32_t> likeliest_;  // [rows, k]
  std::vector<std::int64_t> banned_starts_;
  std::vector<std::int32_t> banned_;
};

}  // namespace heed
