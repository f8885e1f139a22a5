// Rows of different lengths as one tensor.
#include "heed/tensor/padding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

using testing::ElementsAre;

TEST(Padding, FillsUpToTheLongest) {
  const std::vector<std::int32_t> a = {7, 8}, b = {}, c = {9, 10, 11};
  const std::span<const std::int32_t> rows[] = {a, b, c};
  const PaddedRows padded = pad_rows(rows, 3);
  EXPECT_EQ(padded.tokens.shape(), (Shape{3, 3}));
  EXPECT_THAT(padded.tokens.values<std::int64_t>(), ElementsAre(7, 8, 3, 3, 3, 3, 9, 10, 11));
  EXPECT_THAT(padded.lengths.values<std::int64_t>(), ElementsAre(2, 0, 3));
  EXPECT_EQ(padded.total, 5);
}

TEST(Padding, OfNothingIsEmpty) {
  const PaddedRows padded = pad_rows({}, 3);
  EXPECT_EQ(padded.tokens.shape(), (Shape{0, 0}));
  EXPECT_EQ(padded.total, 0);
}

}  // namespace
}  // namespace heed
