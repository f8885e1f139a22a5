#include "heed/ops/reduce.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/reduce.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// The loops of a reduction and the shapes of its result.
struct Plan {
  Shape kept = {};     // reduced axes kept with size 1
  Shape dropped = {};  // reduced axes removed
  Dims order = {};     // a permutation that makes the reduced axes adjacent
  kernels::ReduceShape loop{1, 1, 1};
};

Plan plan(const char* op, const Tensor& x, const Dims& axes) {
  unsigned reduced = axes.empty() ? (1u << x.rank()) - 1 : 0u;
  for (const std::int64_t named : axes) {
    const int axis = resolve_axis(op, static_cast<int>(named), x.rank());
    HEED_CHECK((reduced >> axis & 1u) == 0, "[{}] axes {} name axis {} twice", op, to_string(axes),
               axis);
    reduced |= 1u << axis;
  }
  Plan p;
  int first = -1, last = -1;
  for (int i = 0; i < x.rank(); ++i) {
    const bool goes = (reduced >> i & 1u) != 0;
    p.kept.push_back(goes ? 1 : x.shape()[i]);
    if (!goes) p.dropped.push_back(x.shape()[i]);
    if (goes && first < 0) first = i;
    if (goes) last = i;
  }
  // Adjacent axes are reduced in place; others are moved to the end first.
  bool adjacent = true;
  for (int i = first; i >= 0 && i <= last; ++i) adjacent = adjacent && (reduced >> i & 1u) != 0;
  for (int i = 0; i < x.rank(); ++i) {
    const bool goes = (reduced >> i & 1u) != 0;
    if (adjacent || !goes) p.order.push_back(i);
    (goes ? p.loop.n : adjacent && i > last ? p.loop.inner : p.loop.outer) *= x.shape()[i];
  }
  for (int i = 0; i < x.rank() && !adjacent; ++i) {
    if ((reduced >> i & 1u) != 0) p.order.push_back(i);
  }
  return p;
}

Tensor reduce_value(const char* name, kernels::Reduce op, const Tensor& x, const Plan& p) {
  return visit_float(name, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor in = contiguous_copy(view::permute(x, p.order));
    Tensor y = empty(p.kept, x.dtype());
    kernels::reduce(op, p.loop, in.data<T>(), y.mutable_data<T>());
    return y;
  });
}

Tensor shaped(const Tensor& y, const Plan& p, ReduceOptions options) {
  return options.keep_axes ? y : view::reshape(y, p.dropped);
}

Tensor extreme(const char* name, kernels::Reduce op, const Tensor& x, const Dims& axes,
               ReduceOptions options) {
  const Plan p = plan(name, x, axes);
  HEED_CHECK(p.loop.n > 0 || p.loop.outer * p.loop.inner == 0,
             "[{}] shape {}: nothing to choose from along an empty axis", name,
             to_string(x.shape()));
  const Tensor y = reduce_value(name, op, x, p);
  return record(name, {x}, shaped(y, p, options), [x = x.detach(), y, axes](Backward& b) {
    const Tensor chosen = equal(x, y);
    const Tensor ties = sum(cast(chosen, x.dtype()), axes, {.keep_axes = true});
    b.add(0, where(chosen, view::reshape(contiguous_copy(b.dy()), y.shape()) / ties, 0.0));
  });
}

}  // namespace

Tensor sum(const Tensor& x, const Dims& axes, ReduceOptions options) {
  const Plan p = plan("sum", x, axes);
  const Tensor y = reduce_value("sum", kernels::Reduce::sum, x, p);
  return record("sum", {x}, shaped(y, p, options), [shape = x.shape(), kept = p.kept](Backward& b) {
    b.add(0, view::expand(view::reshape(contiguous_copy(b.dy()), kept), shape));
  });
}

Tensor mean(const Tensor& x, const Dims& axes, ReduceOptions options) {
  const double count = static_cast<double>(plan("mean", x, axes).loop.n);
  return sum(x, axes, options) / count;
}

Tensor max(const Tensor& x, const Dims& axes, ReduceOptions options) {
  return extreme("max", kernels::Reduce::maximum, x, axes, options);
}

Tensor min(const Tensor& x, const Dims& axes, ReduceOptions options) {
  return extreme("min", kernels::Reduce::minimum, x, axes, options);
}

Tensor variance(const Tensor& x, const Dims& axes, ReduceOptions options) {
  return mean(square(x - mean(x, axes, {.keep_axes = true})), axes, options);
}

}  // namespace heed
