#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::window_test {
namespace {

using kernels::AttentionShape;

AttentionShape shape_of(std::int64_t Tq, std::int64_t Tk) {
  return {.B = 1, .H = 1, .G = 1, .Tq = Tq, .Tk = Tk, .D = 1, .Dv = 1};
}

TEST(CausalMask, FollowsTheCorner) {
  for (const auto& [Tq, Tk] : {std::pair{5, 5}, {3, 8}, {8, 3}, {1, 9}, {130, 70}}) {
    const AttentionShape shape = shape_of(Tq, Tk);
    const std::int64_t last = Tk - Tq;
    test::check_mask({causal(), [](auto, auto, auto i, auto j) { return j <= i; }}, shape);
    test::check_mask(
        {causal(Corner::bottom_right), [&](auto, auto, auto i, auto j) { return j <= i + last; }},
        shape);
    test::check_mask(
        {causal(Corner::offset(2)), [](auto, auto, auto i, auto j) { return j <= i + 2; }}, shape);
    test::check_mask(
        {causal(Corner::offset(-2)), [](auto, auto, auto i, auto j) { return j <= i - 2; }}, shape);
    EXPECT_TRUE(test::is_exact(causal(Corner::bottom_right), shape));
  }
}

TEST(WindowMask, ShowsNeighbours) {
  for (const auto& [Tq, Tk] : {std::pair{7, 7}, {4, 9}, {9, 4}}) {
    const AttentionShape shape = shape_of(Tq, Tk);
    const std::int64_t last = Tk - Tq;
    test::check_mask(
        {window(2, 1), [](auto, auto, auto i, auto j) { return j >= i - 2 && j <= i + 1; }}, shape);
    test::check_mask(
        {window(0, 3, Corner::bottom_right),
         [&](auto, auto, auto i, auto j) { return j >= i + last && j <= i + last + 3; }},
        shape);
    test::check_mask({window(kUnlimited, 1), [](auto, auto, auto i, auto j) { return j <= i + 1; }},
                     shape);
    test::check_mask({window(1, kUnlimited), [](auto, auto, auto i, auto j) { return j >= i - 1; }},
                     shape);
    test::check_mask({window(kUnlimited, kUnlimited, Corner::offset(kUnlimited)),
                      [](auto, auto, auto, auto) { return true; }},
                     shape);
  }
}

TEST(WindowMask, PackedSequencesHaveTheirOwnCorner) {
  const std::vector<std::int64_t> q{0, 2, 5}, k{0, 6, 8};
  AttentionShape shape{.B = 2, .H = 1, .G = 1, .Tq = 3, .Tk = 6, .D = 1, .Dv = 1};
  shape.q_starts = q.data();
  shape.k_starts = k.data();
  test::check_mask({causal(Corner::bottom_right),
                    [](auto b, auto, auto i, auto j) { return j <= i + (b == 0 ? 4 : -1); }},
                   shape);
}

TEST(WindowMask, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { window(-1, 2); }),
            "[window] left -1, right 2: neither may be negative; kUnlimited lifts a limit");
  EXPECT_EQ(error_message([] { window(3, -2); }),
            "[window] left 3, right -2: neither may be negative; kUnlimited lifts a limit");
}

}  // namespace
}  // namespace heed::window_test
