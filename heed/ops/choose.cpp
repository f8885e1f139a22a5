#include "heed/ops/choose.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/choose.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::Compare;

Tensor compare(const char* name, Compare op, const Tensor& a, const Tensor& b) {
  HEED_CHECK(a.dtype() == b.dtype(), "[{}] {} and {} do not compare: cast one of them", name,
             name_of(a.dtype()), name_of(b.dtype()));
  HEED_CHECK(a.dtype() != DType::bf16, "[{}] bf16 is for storage: cast to f32 to compare", name);
  const Shape shape = broadcast_shapes(name, a.shape(), b.shape());
  Tensor y = empty(shape, DType::boolean);
  visit_dtype(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, BFloat16>) {
      kernels::compare(op, nest_of(shape, a, b, y), a.data<T>(), b.data<T>(),
                       y.mutable_data<bool>());
    }
  });
  return y;
}

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return compare("equal", Compare::equal, a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) {
  return compare("not_equal", Compare::not_equal, a, b);
}
Tensor less(const Tensor& a, const Tensor& b) { return compare("less", Compare::less, a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) {
  return compare("less_equal", Compare::less_equal, a, b);
}
Tensor greater(const Tensor& a, const Tensor& b) {
  return compare("greater", Compare::greater, a, b);
}
Tensor greater_equal(const Tensor& a, const Tensor& b) {
  return compare("greater_equal", Compare::greater_equal, a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  HEED_CHECK(condition.dtype() == DType::boolean,
             "[where] the condition is {}: it must be boolean, e.g. the result of less(x, y)",
             name_of(condition.dtype()));
  HEED_CHECK(a.dtype() == b.dtype(), "[where] {} and {} do not mix: cast one of them",
             name_of(a.dtype()), name_of(b.dtype()));
  const Shape shape =
      broadcast_shapes("where", broadcast_shapes("where", a.shape(), b.shape()), condition.shape());
  Tensor y = empty(shape, a.dtype());
  visit_dtype(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::select(nest_of(shape, condition, a, b, y), condition.data<bool>(), a.data<T>(),
                    b.data<T>(), y.mutable_data<T>());
  });
  return record("where", {a, b}, y, [condition](Backward& back) {
    if (back.needs(0)) back.add(0, where(condition, back.dy(), 0.0));
    if (back.needs(1)) back.add(1, where(condition, 0.0, back.dy()));
  });
}

Tensor where(const Tensor& condition, const Tensor& a, double b) {
  return where(condition, a, scalar(b, a.dtype()));
}
Tensor where(const Tensor& condition, double a, const Tensor& b) {
  return where(condition, scalar(a, b.dtype()), b);
}

}  // namespace heed
