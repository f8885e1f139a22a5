// Order along an axis, without gradient: gather(x, axis, indices) is the differentiable way to the
// values. Indices are i64; among equals the lowest comes first; NaN counts as larger than every
// number, and both argmax and argmin name the first NaN, as in PyTorch. No bf16 or boolean.
#pragma once

#include "heed/ops/reduce.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Where the largest and the smallest element of each line is.
Tensor argmax(const Tensor& x, int axis = -1, ReduceOptions options = {});
Tensor argmin(const Tensor& x, int axis = -1, ReduceOptions options = {});

/// Elements in order and the places they had along the axis.
struct Ordered {
  Tensor values;
  Tensor indices;
};

/// The k largest of each line, largest first.
Ordered topk(const Tensor& x, std::int64_t k, int axis = -1);
/// Each line in order, stable.
Ordered sort(const Tensor& x, int axis = -1, bool descending = false);
/// The indices that sort each line, stable.
Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);

}  // namespace heed
