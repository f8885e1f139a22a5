#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::row_intervals_test {
namespace {

using kernels::AttentionShape;

constexpr AttentionShape kShape{.B = 2, .H = 3, .G = 1, .Tq = 70, .Tk = 90, .D = 1, .Dv = 1};

std::int64_t first_of(std::int64_t b, std::int64_t h, std::int64_t i) {
  return (7 * i + 13 * h + 5 * b) % 90;
}
std::int64_t last_of(std::int64_t b, std::int64_t h, std::int64_t i) {
  return first_of(b, h, i) + (i % 9) * 4 - 3;  // some before their first, some beyond all keys
}

Tensor listed(std::int64_t (*of)(std::int64_t, std::int64_t, std::int64_t)) {
  Tensor x = empty({2, 3, 70}, DType::i64);
  for (std::int64_t n = 0; n < x.numel(); ++n) {
    x.mutable_data<std::int64_t>()[n] = of(n / 210, n / 70 % 3, n % 70);
  }
  return x;
}

TEST(RowIntervals, ShowsWhatIsListed) {
  const auto sees = [](auto b, auto h, auto i, auto j) {
    return first_of(b, h, i) <= j && j < last_of(b, h, i);
  };
  const Tensor first = listed(first_of), last = listed(last_of);
  test::check_mask({row_intervals(first, last), sees}, kShape);
  EXPECT_TRUE(test::is_exact(row_intervals(first, last), kShape));
  const auto strided = [](const Tensor& x) {
    return transpose(contiguous(transpose(x, 0, 2)), 0, 2);
  };
  test::check_mask({row_intervals(strided(first), strided(last)), sees}, kShape);
}

TEST(RowIntervals, WrongUseSaysWhatIsWrong) {
  const Tensor x = zeros({2, 3, 4}, DType::i64);
  EXPECT_EQ(error_message([&] { row_intervals(x, x).bind(kShape); }),
            "[attention] row_intervals [2, 3, 4]: this call needs [2, 3, 70]");
  EXPECT_EQ(error_message([&] {
              row_intervals(x, zeros({2, 3}, DType::i64));
            }),
            "[row_intervals] first i64 [2, 3, 4] and last i64 [2, 3]: both must be i64 [B, H, Tq]");
  EXPECT_EQ(error_message([&] {
              row_intervals(zeros({2, 3, 4}), x);
            }),
            "[row_intervals] first f32 [2, 3, 4] and last i64 [2, 3, 4]: both must be i64 "
            "[B, H, Tq]");
}

}  // namespace
}  // namespace heed::row_intervals_test
