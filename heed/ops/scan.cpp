#include "heed/ops/scan.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/scan.h"
#include "heed/tensor/create.h"
#include "heed/tensor/lines.h"

namespace heed {
namespace {

using kernels::Direction;

Tensor cumsum_value(const Tensor& x, int axis, Direction direction) {
  Tensor y = empty_like(x);
  visit_dtype(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T> || (std::is_signed_v<T> && sizeof(T) >= 4)) {
      kernels::cumulative_sum(lines_of(x.shape(), axis, x, y), direction, x.data<T>(),
                              y.mutable_data<T>());
    } else {
      fail("[cumsum] dtype {}: use cast(x, DType::i64) or DType::f32", name_of(x.dtype()));
    }
  });
  return y;
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  axis = resolve_axis("cumsum", axis, x.rank());
  return record("cumsum", {x}, cumsum_value(x, axis, Direction::forward),
                [axis](Backward& b) { b.add(0, cumsum_value(b.dy(), axis, Direction::backward)); });
}

}  // namespace heed
