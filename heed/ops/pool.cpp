#include "heed/ops/pool.h"

#include <limits>

#include "heed/autograd/tape.h"
#include "heed/kernels/pool.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::PoolCount;
using kernels::PoolShape;
using kernels::SlidingAxis;

SlidingAxis checked_pool_axis(const char* op, const SlidingAxis& axis) {
  HEED_CHECK(axis.padding <= axis.kernel / 2,
             "[{}] padding {} for a kernel of {}: it must be at most half the kernel, so that each "
             "window covers an input",
             op, axis.padding, axis.kernel);
  return detail::checked_axis(op, axis);
}

PoolShape shape_1d(const char* op, const Tensor& x, std::int64_t kernel,
                   const Pool1dOptions& options) {
  HEED_CHECK(x.rank() == 3, "[{}] x {}: it must be [B, C, L]", op, to_string(x.shape()));
  const SlidingAxis length = checked_pool_axis(op, {.size = x.size(2),
                                                    .kernel = kernel,
                                                    .stride = options.stride.value_or(kernel),
                                                    .padding = options.padding});
  return {x.size(0) * x.size(1), {.rows = {}, .columns = length}};
}

PoolShape shape_2d(const char* op, const Tensor& x, Size2d kernel, const Pool2dOptions& options) {
  HEED_CHECK(x.rank() == 4, "[{}] x {}: it must be [B, C, H, W]", op, to_string(x.shape()));
  const Size2d stride = options.stride.value_or(kernel);
  return {x.size(0) * x.size(1),
          {.rows = checked_pool_axis(op, {.size = x.size(2),
                                          .kernel = kernel.height,
                                          .stride = stride.height,
                                          .padding = options.padding.height}),
           .columns = checked_pool_axis(op, {.size = x.size(3),
                                             .kernel = kernel.width,
                                             .stride = stride.width,
                                             .padding = options.padding.width})}};
}

Shape pooled(const Tensor& x, const PoolShape& shape) {
  Shape y{x.size(0), x.size(1)};
  if (x.rank() == 4) y.push_back(shape.window.rows.outputs());
  y.push_back(shape.window.columns.outputs());
  return y;
}

Tensor max_pool(const char* op, const Tensor& x, const PoolShape& shape) {
  HEED_CHECK(shape.window.inputs() <= std::numeric_limits<std::int32_t>::max(),
             "[{}] x {}: planes must have fewer than 2^31 elements", op, to_string(x.shape()));
  const Tensor in = contiguous_copy(x);
  Tensor y = empty(pooled(x, shape), x.dtype());
  Tensor chosen = empty(y.shape(), DType::i32);
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::max_pool(shape, in.data<T>(), y.mutable_data<T>(),
                      chosen.mutable_data<std::int32_t>());
  });
  return record(op, {x}, y, [op, shape, size = x.shape(), chosen](Backward& b) {
    const Tensor dy = contiguous_copy(b.dy());
    Tensor dx = empty(size, dy.dtype());
    visit_float(op, dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::max_pool_backward(shape, dy.data<T>(), chosen.data<std::int32_t>(),
                                 dx.mutable_data<T>());
    });
    b.add(0, std::move(dx));
  });
}

Tensor average_pool(const char* op, const Tensor& x, const PoolShape& shape, bool count_padding) {
  const PoolCount count = count_padding ? PoolCount::window : PoolCount::inside;
  const Tensor in = contiguous_copy(x);
  Tensor y = empty(pooled(x, shape), x.dtype());
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::average_pool(shape, count, in.data<T>(), y.mutable_data<T>());
  });
  return record(op, {x}, y, [op, shape, count, size = x.shape()](Backward& b) {
    const Tensor dy = contiguous_copy(b.dy());
    Tensor dx = empty(size, dy.dtype());
    visit_float(op, dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::average_pool_backward(shape, count, dy.data<T>(), dx.mutable_data<T>());
    });
    b.add(0, std::move(dx));
  });
}

}  // namespace

Tensor max_pool1d(const Tensor& x, std::int64_t kernel, const Pool1dOptions& options) {
  return max_pool("max_pool1d", x, shape_1d("max_pool1d", x, kernel, options));
}

Tensor avg_pool1d(const Tensor& x, std::int64_t kernel, const Pool1dOptions& options) {
  return average_pool("avg_pool1d", x, shape_1d("avg_pool1d", x, kernel, options),
                      options.count_include_pad);
}

Tensor max_pool2d(const Tensor& x, Size2d kernel, const Pool2dOptions& options) {
  return max_pool("max_pool2d", x, shape_2d("max_pool2d", x, kernel, options));
}

Tensor avg_pool2d(const Tensor& x, Size2d kernel, const Pool2dOptions& options) {
  return average_pool("avg_pool2d", x, shape_2d("avg_pool2d", x, kernel, options),
                      options.count_include_pad);
}

}  // namespace heed
