// Copies, conversions and in-place sums of tensors, without gradient. The tape and the ops are
// built from them.
#pragma once

#include <array>

#include "heed/kernels/nest.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The nest of loops over tensors that have, or broadcast to, `shape`.
template <typename... Tensors>
auto nest_of(const Shape& shape, const Tensors&... tensors) {
  const auto strides_of = [&](const Tensor& x) {
    Strides strides = Dims::filled(shape.rank(), 0);
    const int added = shape.rank() - x.rank();
    for (int i = 0; i < x.rank(); ++i) {
      strides[added + i] = x.shape()[i] == 1 ? 0 : x.strides()[i];
    }
    return strides;
  };
  constexpr int kOperands = sizeof...(Tensors);
  return kernels::make_nest<kOperands>(shape,
                                       std::array<Strides, kOperands>{strides_of(tensors)...});
}

/// A contiguous copy, always.
Tensor clone_data(const Tensor& x);
/// x itself if it is contiguous, else a contiguous copy.
Tensor contiguous_copy(const Tensor& x);
/// x itself if it has that dtype, else a converted copy.
Tensor cast_data(const Tensor& x, DType dtype);
/// to[...] = from[...], broadcasting from.
void copy_into(Tensor& to, const Tensor& from);
/// a + b for equal shapes, as a new contiguous tensor; f32 or f64.
Tensor add_data(const Tensor& a, const Tensor& b);
/// to[...] += from[...], broadcasting from; f32 or f64.
void add_into(Tensor& to, const Tensor& from);
/// to[...] *= factor; f32 or f64.
void scale_in_place(Tensor& to, double factor);
/// Sums x over the axes along which `shape` was stretched to the shape of x: the gradient of
/// broadcasting.
Tensor sum_to(const Tensor& x, const Shape& shape);

/// Calls f with a zero of the C++ type of dtype, which must be f32 or f64; otherwise throws an
/// error that names the op.
template <typename F>
decltype(auto) visit_float(const char* op, DType dtype, F&& f) {
  HEED_CHECK(dtype == DType::f32 || dtype == DType::f64,
             "[{}] dtype {}: this op computes in f32 or f64; use cast(x, DType::f32)", op,
             name_of(dtype));
  if (dtype == DType::f32) return f(float{});
  return f(double{});
}

}  // namespace heed
