#include "heed/attention/masks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/attention/attention.h"
#include "heed/tensor/create.h"
#include "tests/attention/mask_case.h"
#include "tests/support/error_message.h"

namespace heed::window_around_test {
namespace {

using kernels::AttentionShape;

constexpr AttentionShape kShape{.B = 2, .H = 3, .G = 3, .Tq = 9, .Tk = 14, .D = 1, .Dv = 1};

// Some centres are before the first key and some after the last.
Tensor drawn(const Shape& shape) {
  Generator generator(4);
  return uniform(shape, -4.0, 18.0, generator);
}

TEST(WindowAroundMask, ShowsKeysNearEachCentre) {
  for (const Shape& shape : {Shape{2, 3, 9}, Shape{2, 1, 9}, Shape{1, 3, 9}, Shape{1, 1, 9}}) {
    const Tensor centres = drawn(shape);
    for (const double reach : {0.0, 0.5, 3.0, 1e30}) {
      const auto sees = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
        const std::int64_t row = (shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : h);
        const double centre = centres.data<float>()[row * 9 + i];
        return std::abs(static_cast<double>(j) - centre) <= reach;
      };
      test::check_mask({window_around(centres, reach), sees}, kShape);
      EXPECT_TRUE(test::is_exact(window_around(centres, reach), kShape));
    }
  }
}

TEST(WindowAroundMask, BothEndsAreIncluded) {
  const AttentionShape one{.B = 1, .H = 1, .G = 1, .Tq = 1, .Tk = 9, .D = 1, .Dv = 1};
  test::check_mask({window_around(full({1, 1, 1}, 4.0), 2.0),
                    [](auto, auto, auto, auto j) { return j >= 2 && j <= 6; }},
                   one);
}

TEST(WindowAroundMask, ANaNCentreShowsEveryKey) {
  const Tensor nan = full({1, 1, 1}, std::numeric_limits<double>::quiet_NaN());
  const AttentionShape one{.B = 1, .H = 1, .G = 1, .Tq = 1, .Tk = 9, .D = 1, .Dv = 1};
  test::check_mask({window_around(nan, 2.0), [](auto, auto, auto, auto) { return true; }}, one);
}

TEST(WindowAroundMask, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({2, 4, 3, 5});
  EXPECT_EQ(error_message([] { window_around(ones({3}), 1.0); }),
            "[window_around] centres [3]: they must be [B, H, Tq], one for each query");
  EXPECT_EQ(error_message([] {
              window_around(ones({1, 1, 3}), -1.0);
            }),
            "[window_around] reach -1: it must not be negative");
  EXPECT_EQ(error_message([&] {
              attention(x, x, x, {.mask = window_around(ones({1, 1, 2}), 1)});
            }),
            "[attention] centres of window_around [1, 1, 2] do not broadcast to [B, H, Tq] = "
            "[2, 4, 3]");
}

}  // namespace
}  // namespace heed::window_around_test
