#include "heed/base/shape.h"

namespace heed {

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

int resolve_axis(const char* op, int axis, int rank) {
  HEED_CHECK(rank > 0, "[{}] axis {} of a scalar: a tensor of 0 dimensions has no axes", op, axis);
  const int resolved = axis < 0 ? axis + rank : axis;
  HEED_CHECK(resolved >= 0 && resolved < rank,
             "[{}] axis {} is outside a tensor of {} dimensions: use {} to {}", op, axis, rank,
             -rank, rank - 1);
  return resolved;
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out = Dims::filled(rank, 1);
  for (int i = 1; i <= rank; ++i) {
    const std::int64_t x = i <= a.rank() ? a[a.rank() - i] : 1;
    const std::int64_t y = i <= b.rank() ? b[b.rank() - i] : 1;
    HEED_CHECK(x == y || x == 1 || y == 1,
               "[{}] shapes {} and {} do not broadcast: sizes {} and {} differ and neither is 1",
               op, to_string(a), to_string(b), x, y);
    out[rank - i] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace heed
