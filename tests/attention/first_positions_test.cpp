// Positions of sequences of equal and of different ages.
#include "heed/attention/first_positions.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed {
namespace {

TEST(FirstPositions, AreOneForAllOrOneForEach) {
  const FirstPositions all = 3;
  EXPECT_TRUE(all.is_common());
  EXPECT_EQ(all.of(7), 3);
  const std::vector<std::int64_t> ages = {4, 1, 9};
  const FirstPositions each(ages);
  EXPECT_FALSE(each.is_common());
  EXPECT_EQ(each.of(1), 1);
  EXPECT_EQ(each.least(), 1);
  EXPECT_EQ(each.greatest(), 9);
}

TEST(FirstPositions, EqualOnesAreCommon) {
  const std::vector<std::int64_t> equal = {5, 5}, none;
  EXPECT_TRUE(FirstPositions(equal).is_common());
  EXPECT_EQ(FirstPositions(equal).of(1), 5);
  EXPECT_TRUE(FirstPositions(none).is_common());
  EXPECT_EQ(FirstPositions(none).of(0), 0);
}

}  // namespace
}  // namespace heed
