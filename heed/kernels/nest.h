// A nest of loops over N operands with their own strides. It turns an elementwise call with
// broadcast, strided operands of any rank into a few long runs along the innermost axis. Kernels
// work on runs; only this file handles ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heed/base/shape.h"
#include "heed/base/threads.h"

namespace heed::kernels {

/// Axes outermost first; axes that are contiguous with each other in every operand are merged.
template <int N>
struct Nest {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> sizes{};
  std::array<std::array<std::int64_t, kMaxRank>, N> strides{};

  std::int64_t count() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= sizes[static_cast<std::size_t>(i)];
    return n;
  }

  /// The offset of element number `index` (row-major) in each operand.
  std::array<std::int64_t, N> at(std::int64_t index) const {
    std::array<std::int64_t, N> offsets{};
    for (int i = rank - 1; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(i);
      for (std::size_t k = 0; k < N; ++k) offsets[k] += index % sizes[axis] * strides[k][axis];
      index /= sizes[axis];
    }
    return offsets;
  }
};

/// Builds the nest for operands that all have the given shape (stride 0 where broadcast).
template <int N>
Nest<N> make_nest(const Shape& shape, const std::array<Strides, N>& strides) {
  Nest<N> nest;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    const auto last = static_cast<std::size_t>(nest.rank - 1);
    bool merge = nest.rank > 0;
    for (std::size_t k = 0; merge && k < N; ++k) {
      merge = nest.strides[k][last] == strides[k][axis] * shape[axis];
    }
    const auto at = static_cast<std::size_t>(merge ? nest.rank - 1 : nest.rank++);
    nest.sizes[at] = merge ? nest.sizes[at] * shape[axis] : shape[axis];
    for (std::size_t k = 0; k < N; ++k) nest.strides[k][at] = strides[k][axis];
  }
  if (nest.rank == 0) {  // a single element is one run too
    nest.rank = 1;
    nest.sizes[0] = 1;
  }
  return nest;
}

/// One run: the start of each operand (in elements) and the number of elements along the innermost
/// axis.
template <int N>
struct Run {
  std::array<std::int64_t, N> at;
  std::int64_t length;
};

namespace detail {

// Elements of a cell of the parallel grid: enough to hide the cost of handing it to a thread, few
// enough for three operands to fit L2.
inline constexpr std::int64_t kCellElements = 1 << 14;

/// Calls f for runs [first, last) of the nest.
template <int N, typename F>
void visit_runs(const Nest<N>& nest, std::int64_t first, std::int64_t last, const F& f) {
  const int outer_rank = nest.rank - 1;
  std::array<std::int64_t, kMaxRank> index{};
  Run<N> run{{}, nest.sizes[static_cast<std::size_t>(outer_rank)]};
  std::int64_t rest = first;
  for (int i = outer_rank - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(i);
    index[axis] = rest % nest.sizes[axis];
    rest /= nest.sizes[axis];
    for (std::size_t k = 0; k < N; ++k) run.at[k] += index[axis] * nest.strides[k][axis];
  }
  for (std::int64_t r = first; r < last; ++r) {
    f(run);
    for (int i = outer_rank - 1; i >= 0; --i) {  // the next index, as in an odometer
      const auto axis = static_cast<std::size_t>(i);
      const bool wraps = ++index[axis] == nest.sizes[axis];
      const std::int64_t move = wraps ? 1 - nest.sizes[axis] : 1;
      for (std::size_t k = 0; k < N; ++k) run.at[k] += move * nest.strides[k][axis];
      if (!wraps) break;
      index[axis] = 0;
    }
  }
}

}  // namespace detail

/// Calls f(Run) for all runs of the nest, on all threads, with about `cell_elements` elements per
/// cell. The split depends only on the nest and `cell_elements`.
template <int N, typename F>
void for_each_run(const Nest<N>& nest, std::int64_t cost_per_element, const F& f,
                  std::int64_t cell_elements = detail::kCellElements) {
  const std::int64_t count = nest.count();
  if (count == 0) return;
  const auto inner_axis = static_cast<std::size_t>(nest.rank - 1);
  const std::int64_t inner = nest.sizes[inner_axis];
  const std::int64_t runs = count / inner;
  if (inner >= 2 * cell_elements) {  // long runs: several cells per run
    const std::int64_t pieces = (inner + cell_elements - 1) / cell_elements;
    parallel_for(runs * pieces, cell_elements * cost_per_element, [&](std::int64_t cell) {
      const std::int64_t begin = cell % pieces * cell_elements;
      detail::visit_runs(nest, cell / pieces, cell / pieces + 1, [&](Run<N> run) {
        for (std::size_t k = 0; k < N; ++k) run.at[k] += begin * nest.strides[k][inner_axis];
        run.length = std::min(cell_elements, inner - begin);
        f(run);
      });
    });
    return;
  }
  const std::int64_t runs_per_cell = std::max<std::int64_t>(1, cell_elements / inner);
  const std::int64_t cells = (runs + runs_per_cell - 1) / runs_per_cell;
  parallel_for(cells, runs_per_cell * inner * cost_per_element, [&](std::int64_t cell) {
    const std::int64_t first = cell * runs_per_cell;
    detail::visit_runs(nest, first, std::min(runs, first + runs_per_cell), f);
  });
}

}  // namespace heed::kernels
