// The sequences of a batch that a search extends together, one token per step: the common part of
// all searches. It runs the model, applies the rules to the scores, and removes the sequences from
// the model that the search drops. It does not choose tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/plan.h"
#include "heed/generation/step_model.h"
#include "heed/generation/token_scores.h"

namespace heed {

/// One sequence in progress.
struct Sequence {
  std::int64_t sentence = 0;  ///< Its index in the batch.
  std::int64_t copy =
      0;  ///< The number of the copy, among those of the sentence, that it started as.
  Hypothesis so_far = {};  ///< Without the end token, so without score.
  double rank = 0.0;       ///< The sum of Lockstep::gain() of its tokens.
};

/// What the changes of a plan are applied to.
enum class ChangedScores : std::uint8_t { logits, log_probabilities };

/// A sequence and its next token.
struct Extension {
  std::int64_t row;
  std::int32_t token;
};

class Lockstep {
 public:
  /// Starts `copies` sequences of each sentence; the model has one row per sentence, in order.
  Lockstep(StepModel& model, std::span<const Start> starts, const SearchPlan& plan,
           std::int64_t copies = 1, ChangedScores changed = ChangedScores::logits);

  /// The sequences, ordered by sentence; they are the model's rows.
  std::span<const Sequence> sequences() const { return sequences_; }
  std::int64_t rows() const { return std::ssize(sequences_); }
  const Sequence& sequence(std::int64_t row) const { return sequences_[index(row)]; }
  std::int64_t sentences() const { return std::ssize(longest_); }
  /// The maximum number of tokens of a sentence, without the end token.
  std::int64_t longest(std::int64_t sentence) const { return longest_[index(sentence)]; }
  /// Whether a sequence has its maximum number of tokens: only the end token may follow.
  bool full(std::int64_t row) const;
  /// Whether there is one next token to choose: one that the start forces, or the end.
  bool is_settled(std::int64_t row) const { return is_forced(row) || full(row); }

  /// Feeds the last tokens to the model and finds the k most probable next ones. Throws heed::Error
  /// if a score is NaN or +inf.
  void step(std::int64_t k);

  // After a step:
  /// At most k allowed next tokens, most probable first, among equals the lowest first; none of
  /// probability 0.
  std::span<const std::int32_t> likeliest(std::int64_t row) const;
  /// The log-probability, under the model, of a token after a sequence; 0 for a forced one.
  float log_probability(std::int64_t row, std::int32_t token) const;
  /// What a token adds to the rank of a sequence: its log-probability, or what the changes of the
  /// plan make of it.
  float gain(std::int64_t row, std::int32_t token) const;
  /// The scores of all tokens with the changes of the plan; [V]. Without changes, the logits.
  std::span<const float> scores(std::int64_t row) const;
  /// The greatest of the scores.
  float shift(std::int64_t row) const { return chosen().normalisers[index(row)].shift; }
  /// The tokens that the rules forbid, in ascending order.
  std::span<const std::int32_t> banned(std::int64_t row) const;
  /// How a sequence is completed by a token; none if it goes on.
  std::optional<Finish> finish(const Extension& extension) const;
  /// A sequence with the token that completes it.
  Hypothesis finished(const Extension& extension, Finish finish) const;

  /// Continues with these sequences only, each with one more token; ordered by sentence.
  void advance(std::span<const Extension> extensions);

 private:
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  bool is_end(std::int32_t token) const;
  bool is_forced(std::int64_t row) const;
  const std::vector<std::int32_t>& forced(std::int64_t row) const {
    return forced_[index(sequence(row).sentence)];
  }
  /// The model's score of a token after a sequence.
  float score_of(std::int64_t row, std::int32_t token) const;
  void collect_banned();
  void check_scores() const;
  void change_scores();
  bool is_changed() const { return !plan_.changes.empty(); }
  const BestTokens& chosen() const { return is_changed() ? best_changed_ : best_; }

  StepModel& model_;
  const SearchPlan& plan_;
  ChangedScores changed_;
  std::int64_t vocabulary_;
  std::vector<std::int64_t> longest_;              // [sentences]
  std::vector<std::vector<std::int32_t>> forced_;  // [sentences]
  std::vector<Sequence> sequences_;
  std::vector<std::int32_t> last_;  // the last token of each row, not yet given to the model

  // Scores compute what is asked for when it is asked for.
  mutable TokenScores scores_;          // of the model
  mutable TokenScores changed_scores_;  // if the plan has changes
  BestTokens best_, best_changed_;      // of both
  BannedTokens banned_;
};

}  // namespace heed
