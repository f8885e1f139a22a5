// The grid of attention's forward pass: blocks of queries of every head of every sequence, in an
// order fixed by the sizes alone.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// The first query of a block.
struct BlockAt {
  std::int64_t batch = 0, head = 0, row = 0;
};

class BlockGrid {
 public:
  BlockGrid(const AttentionShape& shape, std::int64_t block_rows);

  std::int64_t cells() const { return cells_; }
  std::int64_t block_rows() const { return block_rows_; }
  BlockAt at(std::int64_t cell) const;

 private:
  const AttentionShape& shape_;
  std::int64_t block_rows_;
  std::int64_t cells_ = 0;
  std::int64_t blocks_ = 0;           // blocks of each head, if all sequences have the same length
  std::vector<std::int64_t> starts_;  // otherwise the first cell of each sequence
};

}  // namespace heed::kernels
