// A sliding window over a plane: the geometry of convolutions and pooling. In one dimension the
// plane has one row.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heed::kernels {

/// The half-open range [begin, end).
struct Range {
  std::int64_t begin, end;
};

/// The sliding window along one axis.
struct SlidingAxis {
  std::int64_t size = 1;  // of the input
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;  // on both sides
  std::int64_t dilation = 1;

  /// The number of inputs from the first to the last of one window.
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
  bool fits() const { return reach() <= size + 2 * padding; }
  std::int64_t outputs() const { return (size + 2 * padding - reach()) / stride + 1; }
  /// The input under kernel element k of an output; outside [0, size) is padding.
  std::int64_t input(std::int64_t output, std::int64_t k) const {
    return output * stride - padding + k * dilation;
  }
  /// The outputs whose input under kernel element k is not padding.
  Range inside(std::int64_t k) const {
    const std::int64_t before = padding - k * dilation;  // output * stride >= before
    const std::int64_t last = size - 1 + before;         // output * stride <= last
    const std::int64_t begin = before > 0 ? (before + stride - 1) / stride : 0;
    const std::int64_t end = last >= 0 ? std::min(outputs(), last / stride + 1) : 0;
    return {begin, std::max(begin, end)};
  }
};

/// A sliding window in two dimensions.
struct Window {
  SlidingAxis rows;
  SlidingAxis columns;

  std::int64_t taps() const { return rows.kernel * columns.kernel; }
  std::int64_t inputs() const { return rows.size * columns.size; }
  std::int64_t outputs() const { return rows.outputs() * columns.outputs(); }
  /// True if every output depends on exactly one input, at the same position.
  bool is_pointwise() const {
    return taps() == 1 && rows.stride == 1 && columns.stride == 1 && rows.padding == 0 &&
           columns.padding == 0;
  }
};

/// Calls f(output, input, n) for each piece of a row, within a range of outputs, that has no
/// padding under kernel element `tap`. The piece has n outputs output, output + 1, … with the
/// inputs input, input + columns.stride, ….
template <typename F>
void for_each_piece(const Window& w, std::int64_t tap, Range outputs, const F& f) {
  const std::int64_t width = w.columns.outputs();
  const std::int64_t row_tap = tap / w.columns.kernel;
  const std::int64_t column_tap = tap % w.columns.kernel;
  const Range rows = w.rows.inside(row_tap);
  const Range columns = w.columns.inside(column_tap);
  const std::int64_t last = std::min(rows.end, (outputs.end + width - 1) / width);
  for (std::int64_t row = std::max(rows.begin, outputs.begin / width); row < last; ++row) {
    const std::int64_t begin = std::max(columns.begin, outputs.begin - row * width);
    const std::int64_t end = std::min(columns.end, outputs.end - row * width);
    if (begin >= end) continue;
    f(row * width + begin,
      w.rows.input(row, row_tap) * w.columns.size + w.columns.input(begin, column_tap),
      end - begin);
  }
}

}  // namespace heed::kernels
