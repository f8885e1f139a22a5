// A tensor as the rows that the kernels of kernels/rows.h work on; for ops only.
#pragma once

#include "heed/kernels/rows.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// All axes but the last, and the last. The tensor must have one.
inline kernels::Rows rows_of(const Tensor& x) {
  const std::int64_t width = x.size(-1);
  return {width == 0 ? 0 : x.numel() / width, width};
}

}  // namespace heed
