#include "heed/attention/masks/query_positions.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(QueryPositions, PackedSequencesHaveTheirOwnCorner) {
  const std::int64_t q[] = {0, 2, 5}, k[] = {0, 6, 8};
  kernels::AttentionShape shape{.B = 2, .H = 1, .G = 1, .Tq = 3, .Tk = 6, .D = 1, .Dv = 1};
  shape.q_starts = q;
  shape.k_starts = k;
  const QueryPositions last(Corner::bottom_right, shape);
  EXPECT_EQ(last(0, 1), 5);
  EXPECT_EQ(last(1, 0), -1);
  const QueryPositions third(Corner::offset(3), shape);
  EXPECT_EQ(third(0, 1), 4);
  EXPECT_EQ(third(1, 1), 4);
}

}  // namespace
}  // namespace heed
