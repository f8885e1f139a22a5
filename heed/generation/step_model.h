// A model as searches see it: some sequences in progress, and for each the scores of its next
// token. What it is not: a search; those are beside it.
#pragma once

#include <cstdint>
#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

class StepModel {
 public:
  virtual ~StepModel() = default;

  /// The number of sequences now.
  virtual std::int64_t rows() const = 0;
  /// The number of tokens there are to choose from, V.
  virtual std::int64_t vocabulary() const = 0;
  /// Appends a token to each sequence and gives the scores of the next one, before the softmax:
  /// f32 [rows, V].
  virtual Tensor step(std::span<const std::int32_t> last) = 0;
  /// Sequence i becomes what sequence from[i] was; there may then be fewer sequences, or more.
  virtual void reorder(std::span<const std::int64_t> from) = 0;
};

}  // namespace heed
