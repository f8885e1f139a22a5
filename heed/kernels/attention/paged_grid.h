// The grid of attention_paged: a cell is some rows of queries of some heads of keys, over some
// spans of positions. The heads of a cell follow each other in a page, so that a cell reads long
// pieces of memory. Where a sequence has several spans, each leaves a part of its result, and the
// parts are joined in order. Spans lie at fixed positions, so results do not depend on the cells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "heed/base/arena.h"
#include "heed/kernels/attention/paged.h"

namespace heed::kernels {

/// Rows are the queries of the heads that share a head of keys: row j is query j / group of head
/// j % group of the group.
struct PagedCell {
  std::int64_t row;                    // the sequence
  std::int64_t first_head, heads;      // of keys
  std::int64_t first, count;           // rows of each of them
  std::int64_t first_span, last_span;  // of the sequence's positions
};

class PagedGrid {
 public:
  explicit PagedGrid(const PagedCall& call)
      : group(call.H / call.shape.G), call_(call), starts_(call.rows + 1) {
    std::int64_t most = 0;
    starts_[0] = 0;
    for (std::int64_t row = 0; row < call.rows; ++row) {
      const std::int64_t spans = last_span(row) - first_span(row);
      most = std::max(most, spans);
      starts_[row + 1] = starts_[row] + spans;
    }
    most = std::max<std::int64_t>(most, 1);
    blocks_ = (group * call.T + kMostRows - 1) / kMostRows;
    const std::int64_t rows = std::min(group * call.T, kMostRows);  // of a head
    const std::int64_t cells_of_head = call.rows * blocks_ * most;  // of one span
    heads_ = std::clamp<std::int64_t>(cells_of_head * call.shape.G / kEnough, 1,
                                      std::min(kMostRows / rows, call.shape.G));
    head_blocks_ = (call.shape.G + heads_ - 1) / heads_;
    // Spans are spread over cells only if there are few sequences and heads.
    spans_ = call.rows * blocks_ * head_blocks_ >= kEnough ? most : 1;
    parts_of_row_ = (most + spans_ - 1) / spans_;
    if (most > 1 || call.weights != nullptr) {
      parts_.emplace(starts_[call.rows] * call.T * call.H * part_size());
    }
  }

  std::int64_t cells() const { return call_.rows * head_blocks_ * blocks_ * parts_of_row_; }
  PagedCell cell(std::int64_t i) const {
    const std::int64_t part = i % parts_of_row_, block = i / parts_of_row_ % blocks_;
    const std::int64_t rest = i / parts_of_row_ / blocks_, row = rest / head_blocks_;
    const std::int64_t head = rest % head_blocks_ * heads_;
    const std::int64_t first = block * kMostRows;
    const std::int64_t span = first_span(row) + part * spans_;
    return {.row = row,
            .first_head = head,
            .heads = std::min(heads_, call_.shape.G - head),
            .first = first,
            .count = std::min(group * call_.T - first, kMostRows),
            .first_span = span,
            .last_span = std::min(last_span(row), span + spans_)};
  }

  /// The spans of a sequence; at least one, so that its queries get a result.
  std::int64_t first_span(std::int64_t row) const { return call_.begin(row, 0) / kSpanPositions; }
  std::int64_t last_span(std::int64_t row) const {
    const std::int64_t length = call_.sequences[row].length;
    return std::max(first_span(row) + 1, (length + kSpanPositions - 1) / kSpanPositions);
  }

  /// Whether results are joined from parts, because of several spans or to compute weights.
  bool has_parts() const { return parts_.has_value(); }
  /// The part of query t of head h that a span leaves, or null: greatest score, sum of weights, and
  /// the weighted sum of values [Dv].
  float* part(std::int64_t row, std::int64_t t, std::int64_t h, std::int64_t span) const {
    if (!parts_) return nullptr;
    const std::int64_t spans = starts_[row + 1] - starts_[row];
    const std::int64_t number = starts_[row] * call_.T * call_.H + (t * call_.H + h) * spans;
    return parts_->data() + (number + span - first_span(row)) * part_size();
  }

  std::int64_t flops() const {
    std::int64_t pairs = 0;
    for (std::int64_t row = 0; row < call_.rows; ++row) {
      for (std::int64_t t = 0; t < call_.T; ++t) pairs += call_.end(row, t) - call_.begin(row, t);
    }
    return 2 * pairs * call_.H * (call_.shape.D + call_.shape.Dv);
  }
  /// Costs for parallel_for.
  std::int64_t cell_cost() const { return flops() / std::max<std::int64_t>(cells(), 1) + 1; }
  std::int64_t join_cost() const {
    return 2 * part_size() * starts_[call_.rows] / std::max<std::int64_t>(call_.rows, 1) +
           call_.weights_stride;
  }

  const std::int64_t group;  ///< Heads of queries for each head of keys.

 private:
  // Rows of a cell: their queries and sums stay in the first-level cache.
  static constexpr std::int64_t kMostRows = 32;
  // Cells that are wanted at least, for threads to share.
  static constexpr std::int64_t kEnough = 32;
  std::int64_t part_size() const { return call_.shape.Dv + 2; }

  const PagedCall& call_;
  Scratch<std::int64_t> starts_;   // [rows + 1]: spans of the rows before
  std::int64_t blocks_ = 0;        // of rows
  std::int64_t heads_ = 0;         // of a cell
  std::int64_t head_blocks_ = 0;   // of heads
  std::int64_t spans_ = 0;         // of a cell
  std::int64_t parts_of_row_ = 0;  // cells for the spans of a sequence
  std::optional<Scratch<float>> parts_;
};

}  // namespace heed::kernels
