#include "heed/kernels/attention/grid.h"

#include <algorithm>

namespace heed::kernels {

BlockGrid::BlockGrid(const AttentionShape& shape, std::int64_t block_rows)
    : shape_(shape), block_rows_(block_rows) {
  const auto blocks = [&](std::int64_t rows) { return (rows + block_rows - 1) / block_rows; };
  if (shape.q_starts == nullptr) {
    blocks_ = blocks(shape.Tq);
    cells_ = shape.B * shape.H * blocks_;
    return;
  }
  starts_.reserve(static_cast<std::size_t>(shape.B + 1));
  for (std::int64_t b = 0; b < shape.B; ++b) {
    starts_.push_back(cells_);
    cells_ += shape.H * blocks(shape.queries(b));
  }
  starts_.push_back(cells_);
}

BlockAt BlockGrid::at(std::int64_t cell) const {
  std::int64_t batch = 0, blocks = blocks_;
  if (starts_.empty()) {
    batch = cell / (shape_.H * blocks);
    cell -= batch * shape_.H * blocks;
  } else {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), cell);
    batch = next - starts_.begin() - 1;
    cell -= starts_[static_cast<std::size_t>(batch)];
    blocks = (shape_.queries(batch) + block_rows_ - 1) / block_rows_;
  }
  // The last blocks come first: under a causal mask they are the longest.
  return {batch, cell / blocks, (blocks - 1 - cell % blocks) * block_rows_};
}

}  // namespace heed::kernels
