// Lines along one axis of N operands: a nest over all the other axes, and the steps along this
// axis. For operations whose elements depend on each other only along an axis (scans, sorts,
// scatters): a line belongs to one cell, so its order is kept and no two threads share it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heed/kernels/nest.h"

namespace heed::kernels {

/// The lines along one axis.
template <int N>
struct Lines {
  Nest<N> others;
  std::int64_t length = 0;               // along the axis
  std::array<std::int64_t, N> steps{};   // of each operand along the axis
  std::array<std::int64_t, N> across{};  // of each operand from one line of a run to the next
};

/// Builds the lines for operands that agree with `shape` in all axes but `axis`.
template <int N>
Lines<N> make_lines(Shape shape, int axis, std::array<Strides, N> strides) {
  Lines<N> lines;
  lines.length = shape[axis];
  shape.erase(axis);
  for (std::size_t k = 0; k < N; ++k) {
    lines.steps[k] = strides[k][axis];
    strides[k].erase(axis);
  }
  lines.others = make_nest<N>(shape, strides);
  for (std::size_t k = 0; k < N; ++k) {
    lines.across[k] = lines.others.strides[k][static_cast<std::size_t>(lines.others.rank - 1)];
  }
  return lines;
}

/// Calls f(Run) for runs of neighbouring lines, on all threads. at[k] is the start of the first
/// line; the next line is across[k] further.
template <int N, typename F>
void for_each_line_run(const Lines<N>& lines, std::int64_t cost_per_element, const F& f) {
  const std::int64_t length = std::max<std::int64_t>(lines.length, 1);
  const std::int64_t per_cell = std::max<std::int64_t>(1, detail::kCellElements / length);
  for_each_run(lines.others, length * cost_per_element, f, per_cell);
}

/// Calls f(at) for every line of a run, on this thread.
template <int N, typename F>
void visit_lines(const Lines<N>& lines, Run<N> run, const F& f) {
  for (std::int64_t i = 0; i < run.length; ++i) {
    f(run.at);
    for (std::size_t k = 0; k < N; ++k) run.at[k] += lines.across[k];
  }
}

/// Calls f(at) for every line, on all threads.
template <int N, typename F>
void for_each_line(const Lines<N>& lines, std::int64_t cost_per_element, const F& f) {
  for_each_line_run(lines, cost_per_element,
                    [&](const Run<N>& run) { visit_lines(lines, run, f); });
}

}  // namespace heed::kernels
