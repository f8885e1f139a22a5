#include "heed/ops/softmax.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/rows.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// Kernels work along the last axis; another axis is moved to the end and back.
template <typename Forward, typename Gradient>
Tensor along_axis(const char* name, const Tensor& x, int axis, Forward forward, Gradient gradient) {
  axis = resolve_axis(name, axis, x.rank());
  const Tensor in = contiguous_copy(view::transpose(x, axis, -1));
  Tensor y = empty_like(in);
  visit_float(name, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    forward(rows_of(in), in.data<T>(), y.mutable_data<T>());
  });
  return record(name, {x}, view::transpose(y, axis, -1), [=](Backward& b) {
    const Tensor dy = contiguous_copy(view::transpose(b.dy(), axis, -1));
    Tensor dx = empty_like(dy);
    visit_float(name, dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      gradient(rows_of(dy), y.data<T>(), dy.data<T>(), dx.mutable_data<T>());
    });
    b.add(0, view::transpose(dx, axis, -1));
  });
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) {
  return along_axis(
      "softmax", x, axis, [](auto... args) { kernels::softmax(args...); },
      [](auto... args) { kernels::softmax_backward(args...); });
}

Tensor log_softmax(const Tensor& x, int axis) {
  return along_axis(
      "log_softmax", x, axis, [](auto... args) { kernels::log_softmax(args...); },
      [](auto... args) { kernels::log_softmax_backward(args...); });
}

}  // namespace heed
