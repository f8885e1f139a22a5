// Creating tensors: filled, counted, copied from values, borrowed, random.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Uninitialised elements.
Tensor empty(const Shape& shape, DType dtype = DType::f32);
Tensor empty_like(const Tensor& x);
Tensor zeros(const Shape& shape, DType dtype = DType::f32);
Tensor ones(const Shape& shape, DType dtype = DType::f32);
/// Every element has the same value, converted to the dtype.
Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
/// A tensor of rank 0.
Tensor scalar(double value, DType dtype = DType::f32);
/// 0, 1, … n-1.
Tensor arange(std::int64_t n, DType dtype = DType::i64);

/// A copy of values in row-major order.
template <typename T>
Tensor from_values(std::span<const T> values, const Shape& shape);
template <typename T>
Tensor from_values(std::initializer_list<T> values, const Shape& shape) {
  return from_values(std::span<const T>(values.begin(), values.size()), shape);
}
/// A read-only tensor of borrowed elements, which `keeper` keeps alive; no copy.
Tensor borrow(const std::byte* data, DType dtype, const Shape& shape,
              std::shared_ptr<const void> keeper);

/// Uniform in [low, high); f32 or f64.
Tensor uniform(const Shape& shape, double low, double high, Generator& generator,
               DType dtype = DType::f32);
/// Normal with a mean and a standard deviation; f32 or f64.
Tensor normal(const Shape& shape, double mean, double deviation, Generator& generator,
              DType dtype = DType::f32);
/// Standard normal from the default generator.
Tensor randn(const Shape& shape, DType dtype = DType::f32);

}  // namespace heed
