#include "heed/ops/index.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/index.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/lines.h"

namespace heed {
namespace {

// Throws unless index has the rank of x and fits into it on all axes but `axis` (-1: on all axes).
void check_fit(const char* op, const char* name, const Tensor& x, const Tensor& index, int axis) {
  bool fits = index.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = i == axis || index.shape()[i] <= x.shape()[i];
  }
  HEED_CHECK(fits, "[{}] index {} for {} {}: the ranks must agree and no size {}may be larger", op,
             to_string(index.shape()), name, to_string(x.shape()),
             axis < 0 ? "" : "but that along the axis ");
}

// y += source at the indexed positions; both may be strided.
void add_at(Tensor& y, int axis, const Tensor& index, const Tensor& source) {
  visit_float("scatter_add", y.dtype(), [&](auto zero) {
    visit_index("scatter_add", index.dtype(), [&](auto first) {
      using T = decltype(zero);
      kernels::scatter_add(lines_of(index.shape(), axis, source, index, y), source.data<T>(),
                           index.data<decltype(first)>(), y.mutable_data<T>());
    });
  });
}

Tensor gather_value(const Tensor& x, int axis, const Tensor& index) {
  Tensor y = empty(index.shape(), x.dtype());
  visit_dtype(x.dtype(), [&](auto zero) {
    visit_index("gather", index.dtype(), [&](auto first) {
      using T = decltype(zero);
      kernels::gather(lines_of(index.shape(), axis, x, index, y), sizeof(T), x.data<T>(),
                      index.data<decltype(first)>(), y.mutable_data<T>());
    });
  });
  return y;
}

kernels::RowsShape rows_of(const Shape& shape, int axis, std::int64_t count) {
  kernels::RowsShape rows{1, shape[axis], count, 1};
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != axis) (i < axis ? rows.outer : rows.inner) *= shape[i];
  }
  return rows;
}

}  // namespace

void check_index(const char* op, const char* what, const Tensor& index, std::int64_t size) {
  visit_index(op, index.dtype(), [&](auto zero) {
    using I = decltype(zero);
    const Tensor flat = contiguous_copy(index);
    const std::int64_t bad = kernels::first_outside(flat.data<I>(), flat.numel(), size);
    if (bad < 0) return;
    Dims position = index.shape();
    std::int64_t rest = bad;
    for (int i = index.rank() - 1; i >= 0; --i) {
      position[i] = rest % index.shape()[i];
      rest /= index.shape()[i];
    }
    fail("[{}] index {} at position {} is outside {} of size {}: indices run from 0 to {}", op,
         flat.data<I>()[bad], to_string(position), what, size, size - 1);
  });
}

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  axis = resolve_axis("gather", axis, x.rank());
  check_fit("gather", "x", x, index, axis);
  check_index("gather", "the axis", index, x.shape()[axis]);
  return record("gather", {x}, gather_value(x, axis, index),
                [axis, index](Backward& b) { add_at(b.zeroed(0), axis, index, b.dy()); });
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, const Tensor& source) {
  axis = resolve_axis("scatter_add", axis, x.rank());
  check_fit("scatter_add", "x", x, index, axis);
  check_fit("scatter_add", "source", source, index, -1);
  HEED_CHECK(x.dtype() == source.dtype(), "[scatter_add] {} and {} do not mix: cast one of them",
             name_of(x.dtype()), name_of(source.dtype()));
  check_index("scatter_add", "the axis", index, x.shape()[axis]);
  Tensor y = clone_data(x);
  add_at(y, axis, index, source);
  return record("scatter_add", {x, source}, y, [axis, index](Backward& b) {
    b.add(0, b.dy());
    if (!b.needs(1)) return;
    Tensor& all = b.zeroed(1);
    Tensor used(all.storage(), all.dtype(), index.shape(), all.strides(), all.offset());
    add_into(used, gather_value(b.dy(), axis, index));
  });
}

Tensor index_select(const Tensor& x, int axis, const Tensor& ids) {
  HEED_CHECK(ids.rank() == 1, "[index_select] ids {}: they must have one dimension",
             to_string(ids.shape()));
  return detail::take({.op = "index_select", .what = "the axis"}, x, axis, ids);
}

Tensor detail::take(const Take& how, const Tensor& x, int axis, const Tensor& ids) {
  axis = resolve_axis(how.op, axis, x.rank());
  check_index(how.op, how.what, ids, x.shape()[axis]);
  const Tensor table = contiguous_copy(x);
  const Tensor list = contiguous_copy(ids);
  const kernels::RowsShape rows = rows_of(x.shape(), axis, ids.numel());
  Shape shape = x.shape();
  shape.erase(axis);
  for (int i = 0; i < ids.rank(); ++i) shape.insert(axis + i, ids.shape()[i]);
  Tensor y = empty(shape, x.dtype());
  visit_dtype(x.dtype(), [&](auto zero) {
    visit_index(how.op, ids.dtype(), [&](auto first) {
      using T = decltype(zero);
      kernels::take_rows(rows, sizeof(T), table.data<T>(), list.data<decltype(first)>(),
                         y.mutable_data<T>());
    });
  });
  return record(how.op, {x}, y, [list, rows, how](Backward& b) {
    const Tensor dy = contiguous_copy(b.dy());
    Tensor& dx = b.zeroed(0);
    visit_float(how.op, dy.dtype(), [&](auto zero) {
      visit_index(how.op, list.dtype(), [&](auto first) {
        using T = decltype(zero);
        kernels::add_rows(rows, dy.data<T>(), list.data<decltype(first)>(), how.skip,
                          dx.mutable_data<T>());
      });
    });
  });
}

}  // namespace heed
