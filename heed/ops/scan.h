// Cumulative sums along an axis.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// y[k] = x[0] + … + x[k] along an axis; f32 and f64 (differentiable), i32 and i64.
Tensor cumsum(const Tensor& x, int axis);

}  // namespace heed
