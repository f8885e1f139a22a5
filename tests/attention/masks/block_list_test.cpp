#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::block_list_test {
namespace {

using kernels::AttentionShape;

constexpr AttentionShape kShape{.B = 1, .H = 2, .G = 1, .Tq = 14, .Tk = 22, .D = 1, .Dv = 1};

TEST(BlockList, ListedBlocksAreVisible) {
  for (const std::int64_t size : {1, 4, 5, 8, 100}) {
    const auto sees = [=](auto, auto, auto i, auto j) {
      return i / size == 0 ? j / size == 0 : j / size == 0 || j / size == 2;
    };
    std::vector<BlockPair> pairs;
    for (std::int64_t q = 0; q * size < 14; ++q) {
      pairs.push_back({q, 0});
      if (q > 0 && 2 * size < 22) pairs.push_back({q, 2});
    }
    test::check_mask({block_list(size, pairs), sees}, kShape);
  }
}

TEST(BlockList, HeadsMayHaveListsOfTheirOwn) {
  test::check_mask(
      {block_list(8, {{{0, 0}, {0, 1}}, {{1, 2}}}),
       [](auto, auto h, auto i, auto j) { return h == 0 ? i < 8 && j < 16 : i >= 8 && j >= 16; }},
      kShape);
}

TEST(BlockList, NeighbouringBlocksAreIntervals) {
  EXPECT_TRUE(test::is_exact(block_list(8, std::vector<BlockPair>{{0, 0}, {0, 1}, {1, 1}, {1, 2}}),
                             kShape));
  EXPECT_FALSE(test::is_exact(block_list(8, std::vector<BlockPair>{{0, 0}, {0, 2}}), kShape));
}

TEST(BlockList, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { block_list(0, std::vector<BlockPair>{}); }),
            "[block_list] blocks of 0: the size must be at least 1");
  EXPECT_EQ(error_message([] {
              block_list(8, std::vector<BlockPair>{{0, 3}}).bind(kShape);
            }),
            "[attention] block_list has the pair (0, 3): 14 queries and 22 keys make 2 x 3 blocks "
            "of 8");
  EXPECT_EQ(error_message([] {
              block_list(8, std::vector<BlockPair>{{-1, 0}}).bind(kShape);
            }),
            "[attention] block_list has the pair (-1, 0): 14 queries and 22 keys make 2 x 3 blocks "
            "of 8");
  EXPECT_EQ(
      error_message([] { block_list(8, std::vector<std::vector<BlockPair>>(3)).bind(kShape); }),
      "[attention] block_list has lists for 3 heads, q has 2: give one for each head, or "
      "one for all");
}

}  // namespace
}  // namespace heed::block_list_test
