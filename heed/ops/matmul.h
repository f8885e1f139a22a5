// Products: batched matrix multiplication and the fused linear layer.
#pragma once

#include <optional>

#include "heed/kernels/elementwise.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// a[…, m, k] b[…, k, n]; batch axes broadcast. Transposed views are read in place.
Tensor matmul(const Tensor& a, const Tensor& b);

/// Options of linear.
struct LinearOptions {
  Tensor bias = {};                               // [out], or undefined
  std::optional<kernels::Unary> activation = {};  // applied to each tile while it is in cache
};

/// activation(x[…, in] weight^T + bias), weight [out, in] as in PyTorch's checkpoints.
Tensor linear(const Tensor& x, const Tensor& weight, const LinearOptions& options = {});

}  // namespace heed
