// Rows of tokens in one array.
#include "heed/data/token_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TokenRows, GiveBackWhatWasAdded) {
  TokenRows rows;
  EXPECT_EQ(rows.size(), 0);
  EXPECT_EQ(rows.tokens(), 0);
  rows.add(std::vector<std::int32_t>{5, 6, 7});
  rows.add(std::vector<std::int32_t>{});
  rows.add(std::vector<std::int32_t>{8});
  rows.extend_last(2);
  EXPECT_EQ(rows.size(), 3);
  EXPECT_EQ(rows.tokens(), 5);
  EXPECT_THAT(rows[0], ElementsAre(5, 6, 7));
  EXPECT_THAT(rows[1], IsEmpty());
  EXPECT_THAT(rows[2], ElementsAre(8, 2));
  EXPECT_EQ(rows.length(0), 3);
  EXPECT_EQ(rows.length(2), 2);
}

}  // namespace
}  // namespace heed
