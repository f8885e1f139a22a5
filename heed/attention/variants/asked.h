// What layers made of ops, not of tiles, make of their input: which positions are there, and what
// they cannot be asked.
#pragma once

#include <string_view>

#include "heed/attention/layer.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

/// Throws if there is a memory: the layer asks x alone.
inline void refuse_memory(std::string_view layer, const Tensor& memory) {
  HEED_CHECK(!memory.defined(),
             "[{}] a memory {} is given: this layer asks x itself; use one that takes a memory, "
             "such as multi_head",
             layer, to_string(memory.shape()));
}

/// Throws if there is a mask besides lengths and causal.
inline void refuse_mask(std::string_view layer, const Mask& mask) {
  HEED_CHECK(mask.everything(),
             "[{}] mask {} is given: this layer knows lengths and causal alone; use one that "
             "looks at every pair, such as multi_head",
             layer, mask.name());
}

/// Which of n positions are within the lengths i64 [B]: boolean [B, n], or [1, n] without lengths.
inline Tensor within(const Tensor& lengths, std::int64_t n) {
  if (!lengths.defined()) return full({1, n}, 1.0, DType::boolean);  // [1, n]
  return less(reshape(arange(n), {1, n}), unsqueeze(lengths, 1));    // [B, n]
}

/// Which of n keys position i of m may see under causal: boolean [m, n].
inline Tensor not_after(std::int64_t m, std::int64_t n) {
  return less_equal(reshape(arange(n), {1, n}), reshape(arange(m), {m, 1}));  // [m, n]
}

}  // namespace heed
