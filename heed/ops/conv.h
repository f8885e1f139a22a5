// Convolutions (cross-correlations, as in PyTorch), differentiable.
#pragma once

#include "heed/ops/sliding.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Options of conv1d.
struct Conv1dOptions {
  Tensor bias = {};  // [O], or undefined
  std::int64_t stride = 1;
  std::int64_t padding = 0;  // zeros on both sides
  std::int64_t dilation = 1;
  std::int64_t groups = 1;  // independent convolutions, each on its share of the channels
};

/// x [B, C, L], weight [O, C / groups, K] -> [B, O, L'].
Tensor conv1d(const Tensor& x, const Tensor& weight, const Conv1dOptions& options = {});

/// Options of conv2d.
struct Conv2dOptions {
  Tensor bias = {};  // [O], or undefined
  Size2d stride = 1;
  Size2d padding = 0;  // zeros on all sides
  Size2d dilation = 1;
  std::int64_t groups = 1;
};

/// x [B, C, H, W], weight [O, C / groups, Kh, Kw] -> [B, O, H', W'].
Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options = {});

}  // namespace heed
