// Views: the same storage in another shape. No copy and no gradient (the differentiable versions
// are in ops/view.h).
#pragma once

#include "heed/tensor/tensor.h"

namespace heed::view {

/// Elements begin, begin + step, … below end along an axis; negative begin and end count from the
/// end, as in Python.
Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end,
             std::int64_t step = 1);
/// The slice at one index of an axis; the axis is removed.
Tensor select(const Tensor& x, int axis, std::int64_t index);
/// Axes in another order: axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, const Dims& order);
Tensor transpose(const Tensor& x, int a, int b);
/// The same elements, in row-major order, in another shape; one size may be -1. Throws if this
/// needs a copy.
Tensor reshape(const Tensor& x, const Shape& shape);
/// True if reshape needs no copy.
bool can_reshape(const Tensor& x, const Shape& shape);
/// Stretches axes of size 1 (and adds leading axes) without copying.
Tensor expand(const Tensor& x, const Shape& shape);
Tensor unsqueeze(const Tensor& x, int axis);
Tensor squeeze(const Tensor& x, int axis);
/// The shape with -1, if present, replaced by the size that gives n elements.
Shape resolve_shape(const Shape& shape, std::int64_t n);

}  // namespace heed::view
