// The grid of attention's backward pass: each cell is one query head against a range of keys. Heads
// are split into ranges so that a few long heads still keep many threads busy; the number of ranges
// depends on the sizes alone. Results that cells share are summed afterwards, in order.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/arena.h"
#include "heed/kernels/attention/program.h"

namespace heed::kernels {

struct PartAt {
  std::int64_t batch = 0, head = 0, part = 0;
};

class PartGrid {
 public:
  explicit PartGrid(const AttentionShape& shape, std::size_t element_size = sizeof(float));

  /// Keys that stay in L2 with their values and both gradients while all queries are processed.
  std::int64_t span_keys() const { return span_keys_; }
  std::int64_t part_keys() const { return part_keys_; }
  std::int64_t parts() const { return parts_; }
  std::int64_t cells() const { return cells_; }
  PartAt at(std::int64_t cell) const {
    return {cell / (shape_.H * parts_), cell / parts_ % shape_.H, cell % parts_};
  }

 private:
  const AttentionShape& shape_;
  std::int64_t span_keys_, part_keys_, parts_, cells_;
};

/// Rows of all query heads in scratch memory: [H, rows of all batches, width].
template <typename T>
class HeadsScratch {
 public:
  HeadsScratch(std::int64_t heads, std::int64_t total_rows, std::int64_t width)
      : rows_(total_rows), width_(width), data_(heads * total_rows * width) {}

  Heads<T> heads(std::int64_t rows_per_batch, const std::int64_t* starts) const {
    return {data_.data(), rows_per_batch * width_, rows_ * width_, width_, starts};
  }

 private:
  std::int64_t rows_, width_;
  Scratch<T> data_;
};

}  // namespace heed::kernels
