// Kernels that treat each row of a matrix by itself, and how rows become cells of the parallel
// grid.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/threads.h"

namespace heed::kernels {

/// A contiguous matrix seen as rows: all axes of a tensor but the last, and the last.
struct Rows {
  std::int64_t count;
  std::int64_t width;
};

/// How many rows a cell takes: some 16k elements, so that three operands stay in L2. Fixed by
/// shape.
inline std::int64_t rows_per_cell(Rows rows) {
  constexpr std::int64_t kCellElements = 1 << 14;
  return std::max<std::int64_t>(1, kCellElements / std::max<std::int64_t>(1, rows.width));
}

/// Calls f(first, count) for ranges of `step` rows that together are all of them, on all threads.
template <typename F>
void for_each_rows(Rows rows, std::int64_t step, std::int64_t cost_per_element, const F& f) {
  const std::int64_t cells = (rows.count + step - 1) / step;
  parallel_for(cells, step * rows.width * cost_per_element, [&](std::int64_t cell) {
    f(cell * step, std::min(step, rows.count - cell * step));
  });
}

}  // namespace heed::kernels
