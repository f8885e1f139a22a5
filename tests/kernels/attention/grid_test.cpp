#include "heed/kernels/attention/grid.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace heed::kernels {
namespace {

void expect_each_block_once(const AttentionShape& shape, std::int64_t block_rows) {
  const BlockGrid grid(shape, block_rows);
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> seen;
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell) {
    const BlockAt at = grid.at(cell);
    EXPECT_LT(at.row, shape.queries(at.batch));
    EXPECT_EQ(at.row % block_rows, 0);
    EXPECT_TRUE(seen.emplace(at.batch, at.head, at.row).second);
  }
  std::size_t expected = 0;
  for (std::int64_t b = 0; b < shape.B; ++b) {
    const std::int64_t blocks = (shape.queries(b) + block_rows - 1) / block_rows;
    expected += static_cast<std::size_t>(shape.H * blocks);
  }
  EXPECT_EQ(seen.size(), expected);
}

TEST(BlockGrid, HasEachBlockOnce) {
  expect_each_block_once({2, 3, 1, 100, 50, 8, 8}, 48);
  expect_each_block_once({2, 3, 1, 0, 50, 8, 8}, 48);
  expect_each_block_once({1, 1, 1, 48, 50, 8, 8}, 48);
  const std::int64_t starts[] = {0, 3, 3, 100, 148};
  expect_each_block_once({4, 2, 1, 97, 97, 8, 8, starts, starts}, 48);
}

}  // namespace
}  // namespace heed::kernels
