// The attention weights of a sequence, step by step. Sequences that split share the steps before,
// and a step is kept only as long as a sequence or a result needs it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/models/decoding.h"

namespace heed {

/// The last step of a sequence, and the steps before it.
struct StepTrace {
  std::shared_ptr<const StepTrace> before;
  std::shared_ptr<const std::vector<LayerWeights>> layers;  ///< Of all rows: [rows, H, 1, Tk].
  std::int64_t row;                                         ///< The sequence's own.
};

/// The decoder's weights of a finished hypothesis with a trace: self [1, H, T, T], cross [1, H, T,
/// S] of a source of S positions, one row for each token and the end. Tensors that were not
/// observed, or that a layer does not give, are undefined.
std::vector<LayerWeights> weights_of(const Hypothesis& hypothesis, std::int64_t source);

}  // namespace heed
