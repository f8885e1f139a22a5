// Concatenating, stacking and splitting tensors, differentiable.
#pragma once

#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

/// Joins tensors along an existing axis; dtypes and all other sizes must agree.
Tensor concat(std::span<const Tensor> tensors, int axis);
inline Tensor concat(std::initializer_list<Tensor> tensors, int axis) {
  return concat(std::span(tensors.begin(), tensors.size()), axis);
}

/// Joins tensors of the same shape along a new axis.
Tensor stack(std::span<const Tensor> tensors, int axis);
inline Tensor stack(std::initializer_list<Tensor> tensors, int axis) {
  return stack(std::span(tensors.begin(), tensors.size()), axis);
}

namespace detail {
void split_into(const Tensor& x, int axis, std::span<const std::int64_t> sizes,
                std::span<Tensor> parts);
std::int64_t equal_part(const Tensor& x, int axis, std::int64_t parts);
}  // namespace detail

/// N views of equal size along an axis: `auto [q, k, v] = split<3>(x, -1);`.
template <std::size_t N>
std::array<Tensor, N> split(const Tensor& x, int axis) {
  std::array<std::int64_t, N> sizes;
  sizes.fill(detail::equal_part(x, axis, N));
  std::array<Tensor, N> parts;
  detail::split_into(x, axis, sizes, parts);
  return parts;
}
/// Views of the given sizes along an axis; the sizes must add up to the size of the axis.
std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int axis);
inline std::vector<Tensor> split(const Tensor& x, std::initializer_list<std::int64_t> sizes,
                                 int axis) {
  return split(x, std::span(sizes.begin(), sizes.size()), axis);
}
/// `parts` views of equal size along an axis.
std::vector<Tensor> split(const Tensor& x, std::int64_t parts, int axis);

}  // namespace heed
