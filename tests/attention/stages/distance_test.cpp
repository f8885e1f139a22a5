#include "heed/attention/stages/distance.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Distance, ShiftsOfCorners) {
  const kernels::AttentionShape shape{.B = 2, .H = 1, .G = 1, .Tq = 3, .Tk = 8, .D = 1, .Dv = 1};
  EXPECT_EQ(common_shift("alibi", Corner::top_left, shape), 0);
  EXPECT_EQ(common_shift("alibi", Corner::bottom_right, shape), 5);
  EXPECT_EQ(common_shift("alibi", Corner::offset(-4), shape), -4);
  const Distances distances(shape, 5);
  EXPECT_EQ(distances.least, -2);  // the first query, at 5, from the last key, at 7
  EXPECT_EQ(distances.count, 10);
}

TEST(Distance, PackedSequencesMustAgreeOnTheCorner) {
  const std::vector<std::int64_t> q{0, 3, 5}, same{0, 4, 7}, other{0, 4, 9};
  kernels::AttentionShape shape{.B = 2, .H = 1, .G = 1, .Tq = 3, .Tk = 5, .D = 1, .Dv = 1};
  shape.q_starts = q.data();
  shape.k_starts = same.data();
  EXPECT_EQ(common_shift("alibi", Corner::bottom_right, shape), 1);
  shape.k_starts = other.data();
  EXPECT_EQ(common_shift("alibi", Corner::top_left, shape), 0);
  EXPECT_EQ(error_message([&] { common_shift("alibi", Corner::bottom_right, shape); }),
            "[attention] alibi at the bottom_right corner: sequence 1 has 2 queries and 5 keys, "
            "sequence 0 has 3 and 4: the difference must be the same in all packed sequences; use "
            "top_left or an offset");
}

}  // namespace
}  // namespace heed
