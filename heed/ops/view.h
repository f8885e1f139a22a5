// Differentiable views and layout changes: the gradient is the same view backwards. None copies but
// those that say so.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Another shape for the same elements, one size may be -1; copies only if the strides leave no
/// other way.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, const Dims& order);
/// Two axes exchanged; the last two by default.
Tensor transpose(const Tensor& x, int a = -2, int b = -1);
/// Elements begin, begin + step, … below end; negative begin and end count from the end.
Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end,
             std::int64_t step = 1);
/// One index along an axis, which disappears.
Tensor select(const Tensor& x, int axis, std::int64_t index);
/// Axes of size 1 stretched, leading axes added.
Tensor expand(const Tensor& x, const Shape& shape);
/// An axis of size 1 added or removed.
Tensor unsqueeze(const Tensor& x, int axis);
Tensor squeeze(const Tensor& x, int axis);
/// x itself if it is row-major without gaps, else a copy that is.
Tensor contiguous(const Tensor& x);
/// A copy of one's own, always.
Tensor clone(const Tensor& x);
/// Converted to another element type; gradients flow between f32 and f64.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace heed
