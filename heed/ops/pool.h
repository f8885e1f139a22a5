// Pooling with a sliding window, differentiable, as in PyTorch: max pooling pads with -inf and
// propagates NaN; the gradient of a maximum goes to the element it came from.
#pragma once

#include <optional>

#include "heed/ops/sliding.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Options of max_pool1d and avg_pool1d.
struct Pool1dOptions {
  std::optional<std::int64_t> stride = {};  // the kernel's size by default
  std::int64_t padding = 0;                 // on both sides; at most half the kernel
  bool count_include_pad = true;  // averages divide by the size of the window, padding included
};

/// The largest element, or the mean, of each window of x [B, C, L] -> [B, C, L'].
Tensor max_pool1d(const Tensor& x, std::int64_t kernel, const Pool1dOptions& options = {});
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel, const Pool1dOptions& options = {});

/// Options of max_pool2d and avg_pool2d.
struct Pool2dOptions {
  std::optional<Size2d> stride = {};
  Size2d padding = 0;
  bool count_include_pad = true;
};

/// The same for x [B, C, H, W] -> [B, C, H', W'].
Tensor max_pool2d(const Tensor& x, Size2d kernel, const Pool2dOptions& options = {});
Tensor avg_pool2d(const Tensor& x, Size2d kernel, const Pool2dOptions& options = {});

}  // namespace heed
