#include "heed/tensor/view.h"

#include <optional>

namespace heed::view {
namespace {

Tensor with(const Tensor& x, const Shape& shape, const Strides& strides, std::int64_t offset) {
  return {x.storage(), x.dtype(), shape, strides, offset};
}

// The strides that give the elements of x the new shape, if they exist. Walks both shapes from the
// right and splits or merges axes group by group; a group can be split only if its elements are
// contiguous.
std::optional<Strides> reshaped_strides(const Tensor& x, const Shape& shape) {
  if (x.contiguous()) return row_major(shape);
  Strides strides = Dims::filled(shape.rank(), 1);
  int from = x.rank() - 1;
  int to = shape.rank() - 1;
  while (from >= 0) {
    const std::int64_t base = x.strides()[from];
    std::int64_t group = x.shape()[from];
    while (from > 0 && (x.shape()[from - 1] == 1 || x.strides()[from - 1] == group * base)) {
      group *= x.shape()[--from];
    }
    std::int64_t filled = 1;
    while (to >= 0 && filled * shape[to] <= group && group % (filled * shape[to]) == 0) {
      strides[to] = base * filled;
      filled *= shape[to--];
    }
    if (filled != group) return std::nullopt;
    --from;
  }
  while (to >= 0) strides[to--] = 1;  // leading axes of size 1
  return strides;
}

}  // namespace

Tensor slice(const Tensor& x, int axis, std::int64_t begin, std::int64_t end, std::int64_t step) {
  axis = resolve_axis("slice", axis, x.rank());
  HEED_CHECK(step >= 1, "[slice] step {}: it must be at least 1", step);
  const std::int64_t n = x.shape()[axis];
  step = std::min(step, std::max<std::int64_t>(n, 1));  // a longer step selects the same elements
  const auto clamp = [n](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + n : i, 0, n);
  };
  begin = clamp(begin);
  end = std::max(clamp(end), begin);
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape[axis] = (end - begin + step - 1) / step;
  strides[axis] *= step;
  return with(x, shape, strides, x.offset() + (shape[axis] > 0 ? begin * x.strides()[axis] : 0));
}

Tensor select(const Tensor& x, int axis, std::int64_t index) {
  axis = resolve_axis("select", axis, x.rank());
  const std::int64_t n = x.shape()[axis];
  const std::int64_t i = index < 0 ? index + n : index;
  HEED_CHECK(i >= 0 && i < n, "[select] index {} is outside axis {} of size {}", index, axis, n);
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape.erase(axis);
  strides.erase(axis);
  return with(x, shape, strides, x.offset() + i * x.strides()[axis]);
}

Tensor permute(const Tensor& x, const Dims& order) {
  HEED_CHECK(order.rank() == x.rank(),
             "[permute] order {} for a tensor of shape {}: name each axis once", to_string(order),
             to_string(x.shape()));
  Shape shape = x.shape();
  Strides strides = x.strides();
  unsigned seen = 0;
  for (int i = 0; i < x.rank(); ++i) {
    const int axis = resolve_axis("permute", static_cast<int>(order[i]), x.rank());
    HEED_CHECK((seen >> axis & 1u) == 0, "[permute] order {} names axis {} twice", to_string(order),
               axis);
    seen |= 1u << axis;
    shape[i] = x.shape()[axis];
    strides[i] = x.strides()[axis];
  }
  return with(x, shape, strides, x.offset());
}

Tensor transpose(const Tensor& x, int a, int b) {
  a = resolve_axis("transpose", a, x.rank());
  b = resolve_axis("transpose", b, x.rank());
  Shape shape = x.shape();
  Strides strides = x.strides();
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return with(x, shape, strides, x.offset());
}

Shape resolve_shape(const Shape& shape, std::int64_t n) {
  Shape out = shape;
  int unknown = -1;
  std::int64_t known = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    HEED_CHECK(shape[i] >= -1, "[reshape] size {} in {}", shape[i], to_string(shape));
    HEED_CHECK(shape[i] != -1 || unknown < 0, "[reshape] {} has more than one -1",
               to_string(shape));
    if (shape[i] == -1) {
      unknown = i;
    } else {
      HEED_CHECK(!__builtin_mul_overflow(known, shape[i], &known),
                 "[reshape] {} holds more elements than memory can", to_string(shape));
    }
  }
  if (unknown >= 0) {
    HEED_CHECK(known > 0 && n % known == 0, "[reshape] {} elements do not fill {}", n,
               to_string(shape));
    out[unknown] = n / known;
  }
  HEED_CHECK(heed::numel(out) == n, "[reshape] {} elements do not fill {}", n, to_string(shape));
  return out;
}

bool can_reshape(const Tensor& x, const Shape& shape) {
  return reshaped_strides(x, resolve_shape(shape, x.numel())).has_value();
}

Tensor reshape(const Tensor& x, const Shape& shape) {
  const Shape resolved = resolve_shape(shape, x.numel());
  const auto strides = reshaped_strides(x, resolved);
  HEED_CHECK(strides.has_value(),
             "[reshape] a view of shape {} and strides {} cannot become {} without a copy: use "
             "contiguous(x)",
             to_string(x.shape()), to_string(x.strides()), to_string(resolved));
  return with(x, resolved, *strides, x.offset());
}

Tensor expand(const Tensor& x, const Shape& shape) {
  const int added = shape.rank() - x.rank();
  HEED_CHECK(added >= 0, "[expand] {} has fewer dimensions than {}", to_string(shape),
             to_string(x.shape()));
  for (const std::int64_t size : shape) {
    HEED_CHECK(size >= 0, "[expand] {} has a negative size", to_string(shape));
  }
  Strides strides = Dims::filled(shape.rank(), 0);
  for (int i = 0; i < x.rank(); ++i) {
    const std::int64_t size = x.shape()[i];
    HEED_CHECK(size == shape[added + i] || size == 1,
               "[expand] {} does not stretch to {}: only sizes of 1 do", to_string(x.shape()),
               to_string(shape));
    strides[added + i] = size == shape[added + i] ? x.strides()[i] : 0;
  }
  return with(x, shape, strides, x.offset());
}

Tensor unsqueeze(const Tensor& x, int axis) {
  axis = resolve_axis("unsqueeze", axis, x.rank() + 1);
  Shape shape = x.shape();
  Strides strides = x.strides();
  shape.insert(axis, 1);
  strides.insert(axis, axis < x.rank() ? x.shape()[axis] * x.strides()[axis] : 1);
  return with(x, shape, strides, x.offset());
}

Tensor squeeze(const Tensor& x, int axis) {
  axis = resolve_axis("squeeze", axis, x.rank());
  HEED_CHECK(x.shape()[axis] == 1, "[squeeze] axis {} of {} has size {}, not 1", axis,
             to_string(x.shape()), x.shape()[axis]);
  return select(x, axis, 0);
}

}  // namespace heed::view
