// Comparisons (booleans, no gradient) and choosing between values by a boolean (differentiable).
// Shapes broadcast.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

Tensor equal(const Tensor& a, const Tensor& b);
Tensor not_equal(const Tensor& a, const Tensor& b);
Tensor less(const Tensor& a, const Tensor& b);
Tensor less_equal(const Tensor& a, const Tensor& b);
Tensor greater(const Tensor& a, const Tensor& b);
Tensor greater_equal(const Tensor& a, const Tensor& b);

/// a where the condition holds, b elsewhere; all three broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b);
/// x with a value wherever the mask holds.
inline Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  return where(mask, value, x);
}

}  // namespace heed
