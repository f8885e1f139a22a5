#include "heed/kernels/index.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "heed/base/arena.h"
#include "heed/base/error.h"
#include "heed/base/threads.h"

namespace heed::kernels {
namespace {

constexpr std::int64_t kCellElements = 1 << 14;

// Calls f(x, index, y) with the offsets for every index, in order along each line. The offset of
// operand `aimed` stays at the start of its line, because the index gives the position in it. Loops
// along the lines or across them, whichever is closer in memory.
template <typename F>
void for_each_index(Lines<3> lines, std::size_t aimed, const F& f) {
  lines.steps[aimed] = 0;
  const bool along = std::abs(lines.steps[1]) <= std::abs(lines.across[1]);
  for_each_line_run(lines, 2, [&](const Run<3>& run) {
    const std::int64_t n = along ? run.length : lines.length;
    const std::int64_t m = along ? lines.length : run.length;
    const auto& outer = along ? lines.across : lines.steps;
    const auto& inner = along ? lines.steps : lines.across;
    for (std::int64_t i = 0; i < n; ++i) {
      std::array<std::int64_t, 3> at = run.at;
      for (std::size_t k = 0; k < 3; ++k) at[k] += i * outer[k];
      for (std::int64_t j = 0; j < m; ++j) {
        f(at[0] + j * inner[0], at[1] + j * inner[1], at[2] + j * inner[2]);
      }
    }
  });
}

template <typename F>
void with_element(std::size_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    case 8:
      return f(std::uint64_t{});
  }
  HEED_ASSERT(false);
}

}  // namespace

template <typename I>
std::int64_t first_outside(const I* index, std::int64_t count, std::int64_t size) {
  const auto inside = [size](I i) { return i >= 0 && static_cast<std::int64_t>(i) < size; };
  const std::int64_t cells = (count + kCellElements - 1) / kCellElements;
  const Scratch<std::int64_t> found(cells);
  parallel_for(cells, kCellElements, [&](std::int64_t cell) {
    const std::int64_t end = std::min(count, (cell + 1) * kCellElements);
    const I* const bad = std::find_if_not(index + cell * kCellElements, index + end, inside);
    found[cell] = bad == index + end ? -1 : bad - index;
  });
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    if (found[cell] >= 0) return found[cell];
  }
  return -1;
}

template <typename I>
void gather(const Lines<3>& lines, std::size_t element_bytes, const void* x, const I* index,
            void* y) {
  with_element(element_bytes, [&](auto zero) {
    const auto* const from = static_cast<const decltype(zero)*>(x);
    auto* const to = static_cast<decltype(zero)*>(y);
    const std::int64_t step = lines.steps[0];
    for_each_index(lines, 0, [&](std::int64_t at_x, std::int64_t at_index, std::int64_t at_y) {
      to[at_y] = from[at_x + static_cast<std::int64_t>(index[at_index]) * step];
    });
  });
}

template <typename T, typename I>
void scatter_add(const Lines<3>& lines, const T* x, const I* index, T* y) {
  const std::int64_t step = lines.steps[2];
  for_each_index(lines, 2, [&](std::int64_t at_x, std::int64_t at_index, std::int64_t at_y) {
    y[at_y + static_cast<std::int64_t>(index[at_index]) * step] += x[at_x];
  });
}

template <typename I>
void take_rows(RowsShape s, std::size_t element_bytes, const void* x, const I* ids, void* y) {
  if (s.inner == 0) return;
  with_element(element_bytes, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t rows = s.outer * s.count;
    const std::int64_t per_cell = std::max<std::int64_t>(1, kCellElements / (s.inner + 1));
    const std::int64_t cells = (rows + per_cell - 1) / per_cell;
    parallel_for(cells, per_cell * (s.inner + 1), [&](std::int64_t cell) {
      for (std::int64_t r = cell * per_cell; r < std::min(rows, (cell + 1) * per_cell); ++r) {
        const auto row = r / s.count * s.size + static_cast<std::int64_t>(ids[r % s.count]);
        const T* const from = static_cast<const T*>(x) + row * s.inner;
        T* const to = static_cast<T*>(y) + r * s.inner;
        if (s.inner == 1) {
          *to = *from;
        } else {
          std::memcpy(to, from, static_cast<std::size_t>(s.inner) * sizeof(T));
        }
      }
    });
  });
}

template <typename T, typename I>
void add_rows(RowsShape s, const T* x, const I* ids, std::int64_t skip, T* y) {
  if (s.inner == 0) return;
  // A cell owns a block of columns and processes all rows, so equal ids are added in one cell, in
  // order.
  constexpr std::int64_t kColumns = 64;
  const std::int64_t blocks = (s.inner + kColumns - 1) / kColumns;
  const std::int64_t cost = s.count * std::min(s.inner, kColumns);
  parallel_for(s.outer * blocks, cost, [&](std::int64_t cell) {
    const std::int64_t o = cell / blocks;
    const std::int64_t column = cell % blocks * kColumns;
    const std::int64_t width = std::min(kColumns, s.inner - column);
    for (std::int64_t j = 0; j < s.count; ++j) {
      const auto id = static_cast<std::int64_t>(ids[j]);
      if (id == skip) continue;
      const T* const from = x + (o * s.count + j) * s.inner + column;
      T* const to = y + (o * s.size + id) * s.inner + column;
      for (std::int64_t c = 0; c < width; ++c) to[c] += from[c];
    }
  });
}

#define HEED_INSTANTIATE(I)                                                         \
  template std::int64_t first_outside(const I*, std::int64_t, std::int64_t);        \
  template void gather(const Lines<3>&, std::size_t, const void*, const I*, void*); \
  template void scatter_add(const Lines<3>&, const float*, const I*, float*);       \
  template void scatter_add(const Lines<3>&, const double*, const I*, double*);     \
  template void take_rows(RowsShape, std::size_t, const void*, const I*, void*);    \
  template void add_rows(RowsShape, const float*, const I*, std::int64_t, float*);  \
  template void add_rows(RowsShape, const double*, const I*, std::int64_t, double*);
HEED_INSTANTIATE(std::int32_t)
HEED_INSTANTIATE(std::int64_t)
#undef HEED_INSTANTIATE

}  // namespace heed::kernels
