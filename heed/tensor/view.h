// Views: the same storage under another shape. No copy, no gradient (the differentiable versions
// are in ops/view.h).
#pragma once

#include "heed/tensor/tensor.h"

namespace heed::view {

/// Elements begin, begin + step, … below end along an axis; negative begin and end count from the
/// end, as in Python.
Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end,
             std::int64_t step = 1);
/// One index along an axis, which disappears.
Tensor select(const Tensor& x, int axis, std::int64_t index);
/// Axes in another order: axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, const Dims& order);
Tensor transpose(const Tensor& x, int a, int b);
/// Another shape for the same elements in row-major order; one size may be -1. Throws if only a
/// copy could do it.
Tensor reshape(const Tensor& x, const Shape& shape);
/// True when reshape needs no copy.
bool can_reshape(const Tensor& x, const Shape& shape);
/// Stretches axes of size 1 (and adds leading axes) without copying.
Tensor expand(const Tensor& x, const Shape& shape);
Tensor unsqueeze(const Tensor& x, int axis);
Tensor squeeze(const Tensor& x, int axis);
/// A shape with its -1, if any, worked out for n elements.
Shape resolve_shape(const Shape& shape, std::int64_t n);

}  // namespace heed::view
