// Views a tensor as rows for the kernels of kernels/rows.h; for ops only.
#pragma once

#include "heed/kernels/rows.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The number of rows (all axes but the last) and their width. The rank must be at least 1.
inline kernels::Rows rows_of(const Tensor& x) {
  const std::int64_t width = x.size(-1);
  return {width == 0 ? 0 : x.numel() / width, width};
}

}  // namespace heed
