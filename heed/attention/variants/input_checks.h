// Checks of the input, and tensors of visible positions, for layers that are built from ops
// rather than from the tile kernels.
#pragma once

#include <string_view>

#include "heed/attention/layer.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

/// Throws if a memory is given: the layer attends to x itself.
inline void refuse_memory(std::string_view layer, const Tensor& memory) {
  HEED_CHECK(
      !memory.defined(),
      "[{}] a memory {} is given: this layer attends to x itself; use one that takes a memory, "
      "such as multi_head",
      layer, to_string(memory.shape()));
}

/// Throws if a mask is given besides lengths and causal.
inline void refuse_mask(std::string_view layer, const Mask& mask) {
  HEED_CHECK(mask.everything(),
             "[{}] mask {} is given: this layer takes only lengths and causal; use one that "
             "computes every pair, such as multi_head",
             layer, mask.name());
}

/// Whether each of n positions is within the lengths i64 [B]: boolean [B, n], or [1, n] without
/// lengths.
inline Tensor within(const Tensor& lengths, std::int64_t n) {
  if (!lengths.defined()) return full({1, n}, 1.0, DType::boolean);  // [1, n]
  return less(reshape(arange(n), {1, n}), unsqueeze(lengths, 1));    // [B, n]
}

/// Whether position i of m may attend to key j of n under causal: boolean [m, n].
inline Tensor not_after(std::int64_t m, std::int64_t n) {
  return less_equal(reshape(arange(n), {1, n}), reshape(arange(m), {m, 1}));  // [m, n]
}

}  // namespace heed
