#include "heed/tensor/copy.h"

#include "heed/kernels/copy.h"
#include "heed/kernels/elementwise.h"
#include "heed/kernels/reduce.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {
const void* bytes_of(const Tensor& x) {
  return x.storage()->data() + x.offset() * static_cast<std::int64_t>(size_of(x.dtype()));
}
void* mutable_bytes_of(Tensor& x) {
  HEED_CHECK(
      !x.storage()->read_only(),
      "[tensor] the data belongs to a read-only file: use clone(x) to get a copy of your own");
  return const_cast<void*>(bytes_of(x));
}
}  // namespace

Tensor clone_data(const Tensor& x) {
  Tensor y = empty_like(x);
  copy_into(y, x);
  return y;
}

Tensor contiguous_copy(const Tensor& x) { return x.contiguous() ? x.detach() : clone_data(x); }

Tensor cast_data(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x.detach();
  Tensor y = empty(x.shape(), dtype);
  copy_into(y, x);
  return y;
}

void copy_into(Tensor& to, const Tensor& from) {
  const auto nest = nest_of(to.shape(), from, to);
  if (to.dtype() == from.dtype()) {
    kernels::copy(nest, size_of(to.dtype()), bytes_of(from), mutable_bytes_of(to));
  } else {
    kernels::cast(nest, from.dtype(), bytes_of(from), to.dtype(), mutable_bytes_of(to));
  }
}

Tensor add_data(const Tensor& a, const Tensor& b) {
  Tensor y = empty_like(a);
  visit_float("add", a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::binary(kernels::Binary::add, nest_of(a.shape(), a, b, y), a.data<T>(), b.data<T>(),
                    y.mutable_data<T>());
  });
  return y;
}

void add_into(Tensor& to, const Tensor& from) {
  visit_float("add", to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const out = to.mutable_data<T>();
    kernels::binary(kernels::Binary::add, nest_of(to.shape(), to, from, to), out, from.data<T>(),
                    out);
  });
}

void scale_in_place(Tensor& to, double factor) {
  visit_float("scale", to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const out = to.mutable_data<T>();
    kernels::affine(nest_of(to.shape(), to, to), out, factor, 0.0, out);
  });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int added = x.rank() - shape.rank();
  // Sums one group of adjacent stretched axes at a time: [outer, n, inner] -> [outer, inner].
  Tensor rest = contiguous_copy(x);
  for (int axis = x.rank() - 1; axis >= 0;) {
    const auto stretched = [&](int i) {
      return i >= 0 && (i < added || (shape[i - added] == 1 && x.shape()[i] != 1));
    };
    if (!stretched(axis)) {
      --axis;
      continue;
    }
    const int last = axis;
    while (stretched(axis - 1)) --axis;
    std::int64_t outer = 1, n = 1, inner = 1;
    Shape reduced = rest.shape();
    for (int i = 0; i < rest.rank(); ++i) {
      (i < axis ? outer : i <= last ? n : inner) *= rest.shape()[i];
      if (i >= axis && i <= last) reduced[i] = 1;
    }
    Tensor sum = empty(reduced, rest.dtype());
    visit_float("sum", rest.dtype(), [&](auto zero) {
      using T = decltype(zero);
      kernels::reduce(kernels::Reduce::sum, {outer, n, inner}, rest.data<T>(),
                      sum.mutable_data<T>());
    });
    rest = sum;
    --axis;
  }
  return view::reshape(rest, shape);
}

}  // namespace heed
