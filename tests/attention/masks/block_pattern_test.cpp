#include "heed/attention/masks/block_pattern.h"

#include <gtest/gtest.h>

#include <limits>

#include "heed/attention/masks.h"
#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::block_pattern_test {
namespace {

using kernels::Cover;
using test::shape_of;

constexpr BlockPattern kPatterns[] = {
    {.size = 4, .local = 0, .every = 3},
    {.size = 4, .local = 1, .every = 3, .far = FarBlocks::strided},
    {.size = 1, .local = 2, .every = 5},
    {.size = 5, .local = 1, .every = 0},
    {.size = 200, .local = 0, .every = 1},
};

TEST(BlockPattern, IsWhatItsRuleSays) {
  for (const auto& [Tq, Tk] : {std::pair{40, 40}, {7, 50}, {50, 7}, {130, 130}}) {
    for (const BlockPattern& pattern : kPatterns) {
      for (const std::int64_t shift : {0, Tk - Tq, 3}) {
        const auto sees = [&](auto, auto, auto i, auto j) {
          // Blocks continue before the first position.
          const std::int64_t query = (i + shift + 100 * pattern.size) / pattern.size - 100;
          return pattern.visible(query, j / pattern.size);
        };
        test::check_mask({block_pattern(pattern, Corner::offset(shift)), sees}, shape_of(Tq, Tk));
      }
    }
  }
}

TEST(BlockPattern, IsTheListOfItsBlocks) {
  for (const BlockPattern& pattern : kPatterns) {
    std::vector<BlockPair> pairs;
    const std::int64_t blocks = (40 + pattern.size - 1) / pattern.size;
    for (std::int64_t q = 0; q < blocks; ++q) {
      for (std::int64_t k = 0; k < blocks; ++k) {
        const bool near = q - k <= pattern.local && k - q <= pattern.local;
        const bool far =
            pattern.every > 0 && (pattern.far == FarBlocks::strided ? (q - k) % pattern.every == 0
                                                                    : (k + 1) % pattern.every == 0);
        if (near || far) pairs.push_back({q, k});
      }
    }
    const auto rule = block_pattern(pattern).bind(shape_of(40, 40));
    const auto list = block_list(pattern.size, pairs).bind(shape_of(40, 40));
    std::vector<std::uint8_t> by_rule(1600), by_list(1600);
    rule->fill({0, 0, 0, 40, 0, 40}, by_rule.data(), 40);
    list->fill({0, 0, 0, 40, 0, 40}, by_list.data(), 40);
    EXPECT_EQ(by_rule, by_list);
  }
}

TEST(BlockPattern, HiddenBlocksAreSkipped) {
  const auto bound = block_pattern({.size = 16, .local = 1, .every = 8}).bind(shape_of(960, 960));
  EXPECT_EQ(bound->cover({0, 0, 480, 96, 0, 112}), Cover::none);
  EXPECT_EQ(bound->cover({0, 0, 480, 96, 112, 16}), Cover::all);
  EXPECT_EQ(bound->cover({0, 0, 480, 96, 128, 112}), Cover::none);
  EXPECT_EQ(bound->cover({0, 0, 480, 96, 100, 16}), Cover::some);
  EXPECT_TRUE(test::is_exact(block_pattern({.size = 4, .local = 1, .every = 0}), shape_of(40, 40)));
}

TEST(BlockPattern, HugeSizesDoNotOverflow) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  test::check_mask({block_pattern({.size = kMost, .local = kMost, .every = 0}),
                    [](auto, auto, auto, auto) { return true; }},
                   shape_of(9, 9));
}

TEST(BlockPattern, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { block_pattern({.size = 0}); }),
            "[block_pattern] blocks of 0: the size must be at least 1");
  EXPECT_EQ(error_message([] { block_pattern({.local = -1}); }),
            "[block_pattern] local -1, every 4: neither may be negative");
}

}  // namespace
}  // namespace heed::block_pattern_test
