#include "heed/ops/join.h"

#include "heed/autograd/tape.h"
#include "heed/base/arena.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {
namespace {

// The end of each tensor along the axis. A tensor from the arena holds them, so that a closure that
// captures it does not call new.
Tensor ends_along(std::span<const Tensor> tensors, int axis) {
  Tensor ends = empty({static_cast<std::int64_t>(tensors.size())}, DType::i64);
  std::int64_t end = 0;
  std::int64_t* out = ends.mutable_data<std::int64_t>();
  for (const Tensor& x : tensors) *out++ = end += x.shape()[axis];
  return ends;
}

void check_alike(const char* op, const Tensor& first, const Tensor& x, int axis) {
  HEED_CHECK(x.dtype() == first.dtype(), "[{}] {} and {} do not mix: cast one of them", op,
             name_of(first.dtype()), name_of(x.dtype()));
  bool alike = x.rank() == first.rank();
  for (int i = 0; alike && i < x.rank(); ++i) {
    alike = i == axis || x.shape()[i] == first.shape()[i];
  }
  HEED_CHECK(alike, "[{}] shapes {} and {} differ: all sizes {}must agree", op,
             to_string(first.shape()), to_string(x.shape()),
             axis < 0 ? "" : fmt::format("but that of axis {} ", axis));
}

}  // namespace

Tensor concat(std::span<const Tensor> tensors, int axis) {
  HEED_CHECK(!tensors.empty(), "[concat] no tensors: give at least one");
  const Tensor& first = tensors[0];
  axis = resolve_axis("concat", axis, first.rank());
  for (const Tensor& x : tensors) check_alike("concat", first, x, axis);
  const Tensor ends = ends_along(tensors, axis);
  const std::span<const std::int64_t> end = ends.values<std::int64_t>();
  Shape shape = first.shape();
  shape[axis] = end.back();
  Tensor y = empty(shape, first.dtype());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Tensor part = view::slice(y, axis, i == 0 ? 0 : end[i - 1], end[i]);
    copy_into(part, tensors[i]);
  }
  return record("concat", tensors, y, [ends, axis](Backward& b) {
    std::int64_t begin = 0;
    int input = 0;
    for (const std::int64_t stop : ends.values<std::int64_t>()) {
      b.add(input++, view::slice(b.dy(), axis, begin, stop));
      begin = stop;
    }
  });
}

Tensor stack(std::span<const Tensor> tensors, int axis) {
  HEED_CHECK(!tensors.empty(), "[stack] no tensors: give at least one");
  const Tensor& first = tensors[0];
  axis = resolve_axis("stack", axis, first.rank() + 1);
  for (const Tensor& x : tensors) check_alike("stack", first, x, -1);
  const auto count = static_cast<std::int64_t>(tensors.size());
  Shape shape = first.shape();
  shape.insert(axis, count);
  Tensor y = empty(shape, first.dtype());
  for (std::int64_t i = 0; i < count; ++i) {
    Tensor part = view::select(y, axis, i);
    copy_into(part, tensors[static_cast<std::size_t>(i)]);
  }
  return record("stack", tensors, y, [count, axis](Backward& b) {
    for (std::int64_t i = 0; i < count; ++i) {
      b.add(static_cast<int>(i), view::select(b.dy(), axis, i));
    }
  });
}

std::int64_t detail::equal_part(const Tensor& x, int axis, std::int64_t parts) {
  const std::int64_t size = x.shape()[resolve_axis("split", axis, x.rank())];
  HEED_CHECK(parts >= 1 && size % parts == 0,
             "[split] axis {} of {} does not divide into {} equal parts", axis,
             to_string(x.shape()), parts);
  return size / parts;
}

void detail::split_into(const Tensor& x, int axis, std::span<const std::int64_t> sizes,
                        std::span<Tensor> parts) {
  axis = resolve_axis("split", axis, x.rank());
  const std::int64_t n = x.shape()[axis];
  const Scratch<Tensor*> outputs(static_cast<std::int64_t>(parts.size()));
  std::int64_t end = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    HEED_CHECK(sizes[i] >= 0 && sizes[i] <= n - end,
               "[split] part {} of size {} from axis {} of {}, of which {} are left", i, sizes[i],
               axis, to_string(x.shape()), n - end);
    parts[i] = view::slice(x, axis, end, end + sizes[i]);
    end += sizes[i];
    outputs[static_cast<std::int64_t>(i)] = &parts[i];
  }
  HEED_CHECK(end == n, "[split] the sizes add up to {}, axis {} of {} has {}", end, axis,
             to_string(x.shape()), n);
  const int count = static_cast<int>(parts.size());
  detail::record_into("split", detail::TensorRefs{x}, {outputs.data(), parts.size()},
                      [axis, count](Backward& b) {
                        auto [dx, fresh] = b.into(0);
                        std::int64_t begin = 0;
                        for (int i = 0; i < count; ++i) {
                          const Tensor& dy = b.dy(i);
                          Tensor part = view::slice(dx, axis, begin, begin + dy.shape()[axis]);
                          fresh ? copy_into(part, dy) : add_into(part, dy);
                          begin += dy.shape()[axis];
                        }
                      });
}

std::vector<Tensor> split(const Tensor& x, std::span<const std::int64_t> sizes, int axis) {
  std::vector<Tensor> parts(sizes.size());
  detail::split_into(x, axis, sizes, parts);
  return parts;
}

std::vector<Tensor> split(const Tensor& x, std::int64_t parts, int axis) {
  const std::int64_t size = detail::equal_part(x, axis, parts);
  return split(x, std::vector<std::int64_t>(static_cast<std::size_t>(parts), size), axis);
}

}  // namespace heed
