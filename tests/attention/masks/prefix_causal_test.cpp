#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/tensor/create.h"
#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::prefix_causal_test {
namespace {

using kernels::AttentionShape;

AttentionShape shape_of(std::int64_t Tq, std::int64_t Tk) {
  return {.B = 3, .H = 2, .G = 1, .Tq = Tq, .Tk = Tk, .D = 1, .Dv = 1};
}

TEST(PrefixCausalMask, ShowsThePrefixAndEarlierKeys) {
  const std::vector<std::int64_t> prefixes{0, 2, 3};
  const auto prefix = [&](std::int64_t b) { return prefixes[static_cast<std::size_t>(b)]; };
  for (const auto& [Tq, Tk] : {std::pair{5, 5}, {3, 8}, {8, 3}, {1, 9}, {130, 70}}) {
    const AttentionShape shape = shape_of(Tq, Tk);
    const std::int64_t last = Tk - Tq;
    test::check_mask({prefix_causal(prefixes),
                      [&](auto b, auto, auto i, auto j) { return j <= i || j < prefix(b); }},
                     shape);
    test::check_mask({prefix_causal(prefixes, Corner::bottom_right),
                      [&](auto b, auto, auto i, auto j) { return j <= i + last || j < prefix(b); }},
                     shape);
    EXPECT_TRUE(test::is_exact(prefix_causal(prefixes), shape));
  }
}

// The two masks that it joins show the same keys, but not as one interval.
TEST(PrefixCausalMask, EqualsCausalOrLengths) {
  const Tensor x = randn({3, 2, 40, 8});
  const Tensor joined = attention(x, x, x, {.mask = prefix_causal({0, 17, 40})});
  const Tensor parts = attention(x, x, x, {.mask = causal() | key_lengths({0, 17, 40})});
  EXPECT_LE(test::max_relative_error(joined, parts), 1e-6);
}

TEST(PrefixCausalMask, WrongPrefixesAreNamed) {
  const Tensor x = randn({2, 1, 4, 8});
  EXPECT_EQ(error_message([&] { attention(x, x, x, {.mask = prefix_causal({1})}); }),
            "[attention] prefix_causal has 1 prefixes, the batch 2 sequences: give one for each");
  EXPECT_EQ(error_message([&] {
              attention(x, x, x, {.mask = prefix_causal({1, 5})});
            }),
            "[attention] prefix_causal: prefix 1 is 5: it must be from 0 to 4, the number of keys");
}

}  // namespace
}  // namespace heed::prefix_causal_test
