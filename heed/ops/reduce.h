// Reductions over axes, differentiable. Without axes they reduce over all of them.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Options of reductions.
struct ReduceOptions {
  bool keep_axes = false;  // leave reduced axes with size 1
};

/// The sum over the axes.
Tensor sum(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
/// The mean over the axes; NaN if there are no elements.
Tensor mean(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
/// The largest and smallest elements; the gradient is shared equally among ties.
Tensor max(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
Tensor min(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});
/// The mean squared distance from the mean (divided by n, not n - 1).
Tensor variance(const Tensor& x, const Dims& axes = {}, ReduceOptions options = {});

}  // namespace heed
