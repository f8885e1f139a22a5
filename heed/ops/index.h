// Reading and adding at positions given by an integer tensor (i32 or i64), as in PyTorch. Every
// index is checked; gradients are the same bits for any number of threads.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// y[i, j, k] = x[i, index[i, j, k], k] (here for axis 1): index has the rank of x, and no size
/// larger than that of x except along the axis. Any element type.
Tensor gather(const Tensor& x, int axis, const Tensor& index);
/// A copy of x with y[i, index[i, j, k], k] += source[i, j, k] (here for axis 1): the gradient of
/// gather. source may be larger than index; the rest of it is ignored.
Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source);
/// The slices ids[0], ids[1], … of x along an axis. Any element type.
Tensor index_select(const Tensor& x, int axis, const Tensor& ids);

/// Throws unless every element of index lies in [0, size): "[op] index 9 at position [1, 3] is
/// outside <what> of size 7".
void check_index(const char* op, const char* what, const Tensor& index, std::int64_t size);

/// Calls f with a zero of the index's type for i32 and i64; throws naming the op for others.
template <typename F>
decltype(auto) visit_index(const char* op, DType dtype, F&& f) {
  HEED_CHECK(dtype == DType::i32 || dtype == DType::i64,
             "[{}] indices are {}: they must be i32 or i64; use cast(x, DType::i64)", op,
             name_of(dtype));
  if (dtype == DType::i32) return f(std::int32_t{});
  return f(std::int64_t{});
}

namespace detail {

/// Names for error messages (the op and the axis), and a slice that gets no gradient (-1: none).
struct Take {
  const char* op;
  const char* what;
  std::int64_t skip = -1;
};
/// index_select with ids of any shape; their shape replaces the axis.
Tensor take(const Take& how, const Tensor& x, int axis, const Tensor& ids);

}  // namespace detail

}  // namespace heed
