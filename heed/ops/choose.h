// Comparisons (boolean results, no gradient) and selection by a boolean condition (differentiable).
// Shapes broadcast.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Elementwise comparisons of a and b; the results are boolean.
Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);

/// a where the condition is true, b elsewhere; all three broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b);
/// x with `value` wherever the mask is true.
inline Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  return where(mask, value, x);
}

}  // namespace heed
