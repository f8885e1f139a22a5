#include "heed/ops/view.h"

#include "heed/autograd/tape.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/view.h"

namespace heed {

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape resolved = view::resolve_shape(shape, x.numel());
  const Tensor y = view::reshape(view::can_reshape(x, resolved) ? x : clone_data(x), resolved);
  return record("reshape", {x}, y, [shape = x.shape()](Backward& b) {
    b.add(0, view::reshape(contiguous_copy(b.dy()), shape));
  });
}

Tensor permute(const Tensor& x, const Dims& order) {
  return record("permute", {x}, view::permute(x, order), [order](Backward& b) {
    Dims inverse = order;
    for (int i = 0; i < order.rank(); ++i) {
      inverse[resolve_axis("permute", static_cast<int>(order[i]), order.rank())] = i;
    }
    b.add(0, view::permute(b.dy(), inverse));
  });
}

Tensor transpose(const Tensor& x, int a, int c) {
  return record("transpose", {x}, view::transpose(x, a, c),
                [a, c](Backward& b) { b.add(0, view::transpose(b.dy(), a, c)); });
}

Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
  return record("slice", {x}, view::slice(x, axis, begin, end, step), [=](Backward& b) {
    Tensor part = view::slice(b.zeroed(0), axis, begin, end, step);
    add_into(part, b.dy());
  });
}

Tensor select(const Tensor& x, int axis, std::int64_t index) {
  return record("select", {x}, view::select(x, axis, index), [=](Backward& b) {
    Tensor part = view::select(b.zeroed(0), axis, index);
    add_into(part, b.dy());
  });
}

Tensor expand(const Tensor& x, const Shape& shape) {
  // add() sums a gradient of the stretched shape to the shape of x.
  return record("expand", {x}, view::expand(x, shape), [](Backward& b) { b.add(0, b.dy()); });
}

Tensor unsqueeze(const Tensor& x, int axis) {
  axis = resolve_axis("unsqueeze", axis, x.rank() + 1);
  return record("unsqueeze", {x}, view::unsqueeze(x, axis),
                [axis](Backward& b) { b.add(0, view::squeeze(b.dy(), axis)); });
}

Tensor squeeze(const Tensor& x, int axis) {
  axis = resolve_axis("squeeze", axis, x.rank());
  return record("squeeze", {x}, view::squeeze(x, axis),
                [axis](Backward& b) { b.add(0, view::unsqueeze(b.dy(), axis)); });
}

Tensor contiguous(const Tensor& x) {
  if (x.contiguous()) return x;
  return clone(x);
}

Tensor clone(const Tensor& x) {
  return record("clone", {x}, clone_data(x), [](Backward& b) { b.add(0, b.dy()); });
}

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  const Tensor y = cast_data(x, dtype);
  if (dtype != DType::f32 && dtype != DType::f64) return y;
  return record("cast", {x}, y,
                [from = x.dtype()](Backward& b) { b.add(0, cast_data(b.dy(), from)); });
}

}  // namespace heed
