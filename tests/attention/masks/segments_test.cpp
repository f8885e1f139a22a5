#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::segments_test {
namespace {

using kernels::AttentionShape;

constexpr AttentionShape kShape{.B = 2, .H = 1, .G = 1, .Tq = 6, .Tk = 8, .D = 1, .Dv = 1};

test::MaskCase segment_case(std::vector<std::int64_t> q, std::vector<std::int64_t> k) {
  return {segments(from_values<std::int64_t>(q, {2, 6}), from_values<std::int64_t>(k, {2, 8})),
          [q, k](auto b, auto, auto i, auto j) {
            return q[static_cast<std::size_t>(b * 6 + i)] == k[static_cast<std::size_t>(b * 8 + j)];
          }};
}

TEST(Segments, SortedIdsAreIntervals) {
  const auto c = segment_case({0, 0, 1, 1, 3, 9, 2, 2, 1, 7, 0, 0},
                              {0, 0, 0, 1, 2, 3, 3, 3, -1, 0, 0, 2, 2, 2, 2, 7});
  test::check_mask(c, kShape);
  EXPECT_TRUE(test::is_exact(c.mask, kShape));
}

TEST(Segments, UnsortedIdsAreAMaskToo) {
  const auto c = segment_case({0, 0, 1, 1, 3, 9, 2, 2, 2, 2, 2, 2},
                              {1, 0, 0, 1, 2, 3, 1, 3, 2, 2, 2, 2, 1, 1, 0, 1});
  test::check_mask(c, kShape);
  EXPECT_FALSE(test::is_exact(c.mask, kShape));
  const auto bound = c.mask.bind(kShape);
  EXPECT_EQ(bound->cover({1, 0, 0, 6, 0, 4}), kernels::Cover::all);
  EXPECT_EQ(bound->cover({1, 0, 0, 6, 4, 4}), kernels::Cover::none);
}

TEST(Segments, OneTensorServesQueriesAndKeys) {
  AttentionShape shape = kShape;
  shape.Tk = 6;
  const std::vector<std::int32_t> ids{0, 0, 1, 1, 1, 2, 4, 4, 4, 4, 5, 5};
  test::check_mask({segments(from_values<std::int32_t>(ids, {2, 6})),
                    [&](auto b, auto, auto i, auto j) {
                      return ids[static_cast<std::size_t>(b * 6 + i)] ==
                             ids[static_cast<std::size_t>(b * 6 + j)];
                    }},
                   shape);
}

TEST(Segments, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { segments(zeros({6}, DType::i64)); }),
            "[segments] q_ids [6]: ids must be [B, T]");
  EXPECT_EQ(error_message([] {
              segments(zeros({2, 6}));
            }),
            "[segments] indices are f32: they must be i32 or i64; use cast(x, DType::i64)");
  EXPECT_EQ(error_message([] {
              segments(zeros({2, 6}, DType::i64)).bind(kShape);
            }),
            "[attention] k_ids of segments [2, 6]: this call needs [2, 8]");
  EXPECT_EQ(error_message([] {
              segments(zeros({2, 8}, DType::i64)).bind(kShape);
            }),
            "[attention] q_ids of segments [2, 8]: this call needs [2, 6]");
}

}  // namespace
}  // namespace heed::segments_test
