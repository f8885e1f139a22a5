// Sorting and searching along an axis, without gradient; gather(x, axis, indices) reads the values
// differentiably. Indices are i64. Of equal elements the one with the lowest index comes first. NaN
// counts as larger than every number, and both argmax and argmin return the first NaN, as in
// PyTorch. bf16 and boolean tensors are not supported.
#pragma once

#include "heed/ops/reduce.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The index of the largest (smallest) element of each line.
Tensor argmax(const Tensor& x, int axis = -1, ReduceOptions options = {});
Tensor argmin(const Tensor& x, int axis = -1, ReduceOptions options = {});

/// Ordered elements and their indices along the axis.
struct Ordered {
  Tensor values;
  Tensor indices;
};

/// The k largest of each line, largest first.
Ordered topk(const Tensor& x, std::int64_t k, int axis = -1);
/// Sorts each line; stable.
Ordered sort(const Tensor& x, int axis = -1, bool descending = false);
/// The indices that sort each line, stable.
Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);

}  // namespace heed
