// Reductions over axes, differentiable. No axes given: over all of them.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

struct ReduceOptions {
  bool keep_axes = false;  // leave reduced axes with size 1
};

Tensor sum(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
/// The mean of an empty selection is NaN.
Tensor mean(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
/// The largest and smallest elements; the gradient is shared equally among ties.
Tensor max(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
Tensor min(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
/// The mean squared distance from the mean (divided by n, not n - 1).
Tensor variance(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});

}  // namespace heed
