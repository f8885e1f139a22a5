// The sequences that searches extend together, one token per step: the common part of all searches.
// It runs the model, applies the rules to the scores, and removes the sequences from the model that
// a search drops. Sentences join at any step, each with a plan of its own, and leave when no
// sequence of theirs is left. It does not choose tokens.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/plan.h"
#include "heed/generation/step_model.h"
#include "heed/generation/token_scores.h"

namespace heed {

/// A sentence to search a result for.
struct SearchSentence {
  std::int64_t number = 0;  ///< Tells it apart from the others that run at the same time.
  Start start = {};
  std::shared_ptr<const SearchPlan> plan = {};
};

/// The maximum number of tokens of a sentence's results, without the end token.
std::int64_t longest_of(const SearchSentence& sentence);

/// What the changes of a plan are applied to.
enum class ChangedScores : std::uint8_t { logits, log_probabilities };

/// What the search of a sentence needs.
struct SearchNeeds {
  std::int64_t copies = 1;  ///< Sequences that the sentence starts with.
  std::int64_t tokens = 1;  ///< Tokens of each sequence that Lockstep::likeliest() offers.
  ChangedScores changed = ChangedScores::logits;
  bool all_scores = false;  ///< Whether scores() is used: else a model may compute only the best.
};

/// One sequence in progress.
struct Sequence {
  std::int64_t sentence = 0;  ///< Its number.
  std::int64_t copy =
      0;  ///< The number of the copy, among those of the sentence, that it started as.
  Hypothesis so_far = {};  ///< Without the end token, so without score.
  double rank = 0.0;       ///< The sum of Lockstep::gain() of its tokens.
};

/// A sequence and its next token.
struct Extension {
  std::int64_t row;
  std::int32_t token;
};

class Lockstep {
 public:
  /// The model must outlive it.
  explicit Lockstep(StepModel& model) : model_(model), vocabulary_(model.vocabulary()) {}

  /// Adds sentences, of which the model has a row each, in order, after its other rows.
  void join(std::span<const SearchSentence> sentences, std::span<const SearchNeeds> needs);

  /// The sequences; those of a sentence follow each other. They are the model's rows.
  std::span<const Sequence> sequences() const { return sequences_; }
  std::int64_t rows() const { return std::ssize(sequences_); }
  const Sequence& sequence(std::int64_t row) const { return sequences_[index(row)]; }
  /// The maximum number of tokens of a sentence, without the end token.
  std::int64_t longest(std::int64_t sentence) const { return sentences_.at(sentence).longest; }
  /// Whether a sequence has its maximum number of tokens: only the end token may follow.
  bool full(std::int64_t row) const;
  /// Whether there is one next token to choose: one that the start forces, or the end.
  bool is_settled(std::int64_t row) const { return is_forced(row) || full(row); }

  /// Feeds the last tokens to the model and finds the most probable next ones.
  void step();

  // After a step:
  /// Throws heed::Error if a score of a sequence is NaN or +inf.
  void check_scores(std::int64_t row) const;
  /// At most SearchNeeds::tokens allowed next tokens, most probable first, among equals the lowest
  /// first; none of probability 0.
  std::span<const std::int32_t> likeliest(std::int64_t row) const;
  /// The log-probability, under the model, of a token after a sequence; 0 for a forced one.
  float log_probability(std::int64_t row, std::int32_t token) const;
  /// What a token adds to the rank of a sequence: its log-probability, or what the changes of the
  /// plan make of it.
  float gain(std::int64_t row, std::int32_t token) const;
  /// The scores of all tokens with the changes of the plan; [V]. Without changes, the logits, which
  /// need SearchNeeds::all_scores.
  std::span<const float> scores(std::int64_t row) const;
  /// The greatest of the scores.
  float shift(std::int64_t row) const;
  /// The tokens that the rules forbid, in ascending order.
  std::span<const std::int32_t> banned(std::int64_t row) const;
  /// How a sequence is completed by a token; none if it goes on.
  std::optional<Finish> finish(const Extension& extension) const;
  /// A sequence with the token that completes it.
  Hypothesis finished(const Extension& extension, Finish finish) const;

  /// Continues with these sequences only, each with one more token; those of a sentence follow each
  /// other. Sentences without a sequence leave.
  void advance(std::span<const Extension> extensions);

  /// Removes the sequences of a sentence between two steps.
  void leave(std::int64_t sentence);

 private:
  struct Sentence {
    std::shared_ptr<const SearchPlan> plan;
    SearchNeeds needs;
    std::vector<std::int32_t> forced;
    std::int64_t longest;
    std::shared_ptr<const Candidates> candidates;  // null: all tokens
    std::int64_t words;                            // of the source, after the vocabulary

    bool is_changed() const { return !plan->changes.empty(); }
    bool computes_all() const { return needs.all_scores || is_changed(); }
  };
  /// The scores of sequences that are computed the same way, so that a sequence's numbers do not
  /// depend on what others need.
  struct Scored {
    std::vector<std::int64_t> rows = {};  // of the model
    bool computes_all = false, is_changed = false, is_renormalised = false;
    std::int64_t tokens =
        1;  // that are found for each; an int8 layer refines as many and some more
    std::shared_ptr<const Candidates> candidates = {};
    std::int64_t words = 0;
    TokenScores scores = {};                  // of the model
    TokenScores changed = {};                 // if is_changed
    BestTokens best = {}, best_changed = {};  // of both
    BannedTokens banned = {};

    const BestTokens& chosen() const { return is_changed ? best_changed : best; }
  };
  /// Where the scores of a row are.
  struct Place {
    std::size_t group;
    std::int64_t row;
  };

  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
  Sentence checked(const SearchSentence& sentence, const SearchNeeds& needs) const;
  const Sentence& sentence_of(std::int64_t row) const {
    return sentences_.at(sequence(row).sentence);
  }
  const SearchPlan& plan_of(std::int64_t row) const { return *sentence_of(row).plan; }
  const Scored& scored(std::int64_t row) const { return groups_[places_[index(row)].group]; }
  std::int64_t scored_row(std::int64_t row) const { return places_[index(row)].row; }
  bool is_end(std::int64_t row, std::int32_t token) const;
  bool is_forced(std::int64_t row) const;
  bool is_certain(std::int64_t row) const;
  /// The model's score of a token after a sequence.
  float score_of(std::int64_t row, std::int32_t token) const;
  void group_rows();
  void add_banned(std::int64_t row, BannedTokens& banned) const;
  void change_scores(Scored& group) const;
  void keep(std::vector<Sequence> next, std::span<const std::int64_t> from);

  StepModel& model_;
  std::int64_t vocabulary_;
  std::map<std::int64_t, Sentence> sentences_;  // by number
  std::vector<Sequence> sequences_;
  std::vector<std::int32_t> last_;  // the last token of each row, not yet given to the model

  std::vector<Scored> groups_;
  std::vector<Place> places_;  // of each row
};

}  // namespace heed
