#include "heed/ops/order.h"

#include "heed/kernels/order.h"
#include "heed/tensor/create.h"
#include "heed/tensor/lines.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

template <typename F>
void visit_ordered(const char* op, DType dtype, const F& f) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, BFloat16>) {
      fail("[{}] dtype {}: use cast(x, DType::f32) first", op, name_of(dtype));
    } else {
      f(zero);
    }
  });
}

Tensor arg_extreme(const char* op, kernels::Extreme which, const Tensor& x, int axis,
                   ReduceOptions options) {
  axis = resolve_axis(op, axis, x.rank());
  Shape shape = x.shape();
  shape[axis] = 1;
  HEED_CHECK(x.shape()[axis] > 0 || numel(shape) == 0,
             "[{}] shape {}: nothing to choose from along an empty axis", op, to_string(x.shape()));
  Tensor y = empty(shape, DType::i64);
  visit_ordered(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::arg_extreme(which, lines_of(x.shape(), axis, x, y), x.data<T>(),
                         y.mutable_data<std::int64_t>());
  });
  return options.keep_axes ? y : view::squeeze(y, axis);
}

}  // namespace

Tensor argmax(const Tensor& x, int axis, ReduceOptions options) {
  return arg_extreme("argmax", kernels::Extreme::maximum, x, axis, options);
}

Tensor argmin(const Tensor& x, int axis, ReduceOptions options) {
  return arg_extreme("argmin", kernels::Extreme::minimum, x, axis, options);
}

Ordered topk(const Tensor& x, std::int64_t k, int axis) {
  axis = resolve_axis("topk", axis, x.rank());
  HEED_CHECK(k >= 0 && k <= x.shape()[axis],
             "[topk] the {} largest along axis {} of {}: k must be from 0 to {}", k, axis,
             to_string(x.shape()), x.shape()[axis]);
  Shape shape = x.shape();
  shape[axis] = k;
  Ordered y{empty(shape, x.dtype()), empty(shape, DType::i64)};
  visit_ordered("topk", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::top_k(lines_of(x.shape(), axis, x, y.values, y.indices), k, x.data<T>(),
                   y.values.template mutable_data<T>(), y.indices.mutable_data<std::int64_t>());
  });
  return y;
}

Ordered sort(const Tensor& x, int axis, bool descending) {
  axis = resolve_axis("sort", axis, x.rank());
  Ordered y{empty_like(x), empty(x.shape(), DType::i64)};
  visit_ordered("sort", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::sort(lines_of(x.shape(), axis, x, y.values, y.indices), descending, x.data<T>(),
                  y.values.template mutable_data<T>(), y.indices.mutable_data<std::int64_t>());
  });
  return y;
}

Tensor argsort(const Tensor& x, int axis, bool descending) {
  return sort(x, axis, descending).indices;
}

}  // namespace heed
