#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "heed/tensor/create.h"
#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::key_lengths_test {
namespace {

using kernels::AttentionShape;

constexpr AttentionShape kShape{.B = 3, .H = 1, .G = 1, .Tq = 5, .Tk = 9, .D = 1, .Dv = 1};

TEST(KeyLengths, HidesPadding) {
  const auto sees = [](auto b, auto, auto, auto j) { return j < b * 4; };
  test::check_mask({key_lengths({0, 4, 8}), sees}, kShape);
  test::check_mask({key_lengths(from_values<std::int32_t>({0, 4, 8}, {3})), sees}, kShape);
  test::check_mask({key_lengths(from_values<std::int64_t>({0, 4, 8}, {3})), sees}, kShape);
  EXPECT_TRUE(test::is_exact(key_lengths({0, 4, 8}), kShape));
}

TEST(KeyLengths, PackedSequencesHaveTheirOwnLengths) {
  const std::vector<std::int64_t> q{0, 2, 5, 6}, k{0, 3, 4, 11};
  AttentionShape shape = kShape;
  shape.q_starts = q.data();
  shape.k_starts = k.data();
  test::check_mask({key_lengths({3, 0, 6}),
                    [](auto b, auto, auto, auto j) {
                      return j < (b == 0 ? 3 : b == 1 ? 0 : 6);
                    }},
                   shape);
  EXPECT_EQ(error_message([&] {
              key_lengths({3, 2, 6}).bind(shape);
            }),
            "[attention] key_lengths[1] is 2: it must be from 0 to 1, the number of keys");
}

TEST(KeyLengths, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              key_lengths({1, 2}).bind(kShape);
            }),
            "[attention] key_lengths has 2 lengths, the batch 3 sequences: give one for each");
  EXPECT_EQ(error_message([] {
              key_lengths({1, 10, 2}).bind(kShape);
            }),
            "[attention] key_lengths[1] is 10: it must be from 0 to 9, the number of keys");
  EXPECT_EQ(error_message([] {
              key_lengths({1, -1, 2}).bind(kShape);
            }),
            "[attention] key_lengths[1] is -1: it must be from 0 to 9, the number of keys");
  EXPECT_EQ(error_message([] {
              key_lengths(zeros({1, 3}, DType::i64));
            }),
            "[key_lengths] lengths [1, 3]: they must be [B]");
  EXPECT_EQ(error_message([] { key_lengths(zeros({3})); }),
            "[key_lengths] indices are f32: they must be i32 or i64; use cast(x, DType::i64)");
}

}  // namespace
}  // namespace heed::key_lengths_test
