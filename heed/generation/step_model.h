// The interface of a model to the searches: a number of sequences in progress, and for each the
// scores of its next token.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heed/generation/candidates.h"
#include "heed/generation/token_scores.h"

namespace heed {

struct StepTrace;

class StepModel {
 public:
  virtual ~StepModel() = default;

  /// The current number of sequences.
  virtual std::int64_t rows() const = 0;
  /// The number of tokens of the vocabulary, V.
  virtual std::int64_t vocabulary() const = 0;
  /// Appends a token to each sequence and returns the scores (logits) of the next one.
  virtual TokenScores step(std::span<const std::int32_t> last) = 0;
  /// Sequence i becomes the former sequence from[i]; the number of sequences may change.
  virtual void reorder(std::span<const std::int64_t> from) = 0;
  /// Tokens, ascending, among which the next ones of a sentence are chosen, for
  /// TokenScores::within.
  virtual std::shared_ptr<const Candidates> candidates(std::vector<std::int32_t> tokens) const {
    return std::make_shared<const Candidates>(Candidates{std::move(tokens)});
  }
  /// The attention weights of a sequence up to the last step, if they are observed (step_trace.h).
  virtual std::shared_ptr<const StepTrace> trace(std::int64_t /*row*/) const { return nullptr; }
};

}  // namespace heed
