// The interface of a model to the searches: a number of sequences in progress, and for each the
// scores of its next token.
#pragma once

#include <cstdint>
#include <span>

#include "heed/generation/token_scores.h"

namespace heed {

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
};

}  // namespace heed
