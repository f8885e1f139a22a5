// Differentiable views and layout changes. Only the functions that say so copy.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// The same elements in another shape; one size may be -1. Copies only if the strides require it.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Axis i of the result is axis order[i] of x.
Tensor permute(const Tensor& x, const Dims& order);
/// Swaps two axes; the last two by default.
Tensor transpose(const Tensor& x, int a = -2, int b = -1);
/// Elements begin, begin + step, … below end; negative begin and end count from the end.
Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end,
             std::int64_t step = 1);
/// The slice at one index of an axis; the axis is removed.
Tensor select(const Tensor& x, int axis, std::int64_t index);
/// Stretches axes of size 1 and adds leading axes.
Tensor expand(const Tensor& x, const Shape& shape);
/// Adds (removes) an axis of size 1.
Tensor unsqueeze(const Tensor& x, int axis);
Tensor squeeze(const Tensor& x, int axis);
/// x itself if it is row-major without gaps, else a contiguous copy.
Tensor contiguous(const Tensor& x);
/// A contiguous copy, always.
Tensor clone(const Tensor& x);
/// Converted to another element type; gradients flow between f32 and f64.
Tensor cast(const Tensor& x, DType dtype);

}  // namespace heed
