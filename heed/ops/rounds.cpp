#include "heed/ops/rounds.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/index.h"
#include "heed/kernels/rounds.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

kernels::RoundsShape rounds_shape(const RoundPlaces& at, std::int64_t features) {
  HEED_ASSERT(at.places.rank() == 2 && at.places.contiguous() && at.rows.contiguous() &&
              at.rows.numel() == at.places.numel());
  return {at.places.size(0), at.places.size(1), features};
}

}  // namespace

Tensor repeat_rows(const Tensor& x, const RoundPlaces& at) {
  const kernels::RoundsShape shape = rounds_shape(at, x.size(1));
  HEED_ASSERT(x.size(0) == shape.rows);
  const Tensor from = contiguous_copy(x);
  Tensor y = empty({shape.rounds * shape.rows, shape.features}, x.dtype());
  visit_float("repeat_rows", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::take_rows({.outer = 1,
                        .size = shape.rows,
                        .count = shape.rounds * shape.rows,
                        .inner = shape.features},
                       sizeof(T), from.data<T>(), at.rows.data<std::int64_t>(),
                       y.mutable_data<T>());
  });
  return record("repeat_rows", {x}, y, [shape, places = at.places](Backward& b) {
    Tensor& dx = b.zeroed(0);
    const Tensor dy = contiguous_copy(b.dy());
    visit_float("repeat_rows", dx.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::add_rounds(shape, dy.data<T>(), places.data<std::int64_t>(), dx.mutable_data<T>());
    });
  });
}

Tensor join_rounds(const Tensor& x, const Tensor& log_sums, const RoundPlaces& at) {
  const kernels::RoundsShape shape = rounds_shape(at, x.size(1));
  HEED_ASSERT(x.size(0) == shape.rounds * shape.rows && log_sums.numel() == x.size(0));
  const Tensor from = contiguous_copy(x.detach()), sums = contiguous_copy(log_sums.detach());
  Tensor y = empty({shape.rows, shape.features}, x.dtype());
  visit_float("join_rounds", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::join_rounds(shape, from.data<T>(), sums.data<T>(), at.places.data<std::int64_t>(),
                         y.mutable_data<T>());
  });
  return record("join_rounds", {x, log_sums}, y,
                [shape, from, sums, places = at.places](Backward& b) {
                  Tensor dx = empty(from.shape(), from.dtype());
                  Tensor d_sums = empty(sums.shape(), sums.dtype());
                  const Tensor dy = contiguous_copy(b.dy());
                  visit_float("join_rounds", dx.dtype(), [&](auto zero) {
                    using T = decltype(zero);
                    kernels::join_rounds_backward(shape, from.data<T>(), sums.data<T>(),
                                                  places.data<std::int64_t>(), dy.data<T>(),
                                                  dx.mutable_data<T>(), d_sums.mutable_data<T>());
                  });
                  b.add(0, std::move(dx));
                  b.add(1, std::move(d_sums));
                });
}

}  // namespace heed
