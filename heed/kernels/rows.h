// The parallel grid of kernels that process each row of a matrix independently.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/threads.h"

namespace heed::kernels {

/// A contiguous tensor as rows: `count` is the product of all axes but the last, `width` the last.
struct Rows {
  std::int64_t count;
  std::int64_t width;
};

/// The number of rows per cell: about 16k elements, so that three operands stay in L2. It depends
/// only on the shape.
inline std::int64_t rows_per_cell(Rows rows) {
  constexpr std::int64_t kCellElements = 1 << 14;
  return std::max<std::int64_t>(1, kCellElements / std::max<std::int64_t>(1, rows.width));
}

/// Splits all rows into ranges of `step` rows and calls f(first, count) for each, on all threads.
template <typename F>
void for_each_rows(Rows rows, std::int64_t step, std::int64_t cost_per_element, const F& f) {
  const std::int64_t cells = (rows.count + step - 1) / step;
  parallel_for(cells, step * rows.width * cost_per_element, [&](std::int64_t cell) {
    f(cell * step, std::min(step, rows.count - cell * step));
  });
}

}  // namespace heed::kernels
