// Running sums in any layout and both directions, and their accuracy.
#include "heed/kernels/scan.h"

#include <gtest/gtest.h>

#include <vector>

namespace heed::kernels {
namespace {

TEST(CumulativeSum, BothDirectionsInAnyLayout) {
  struct Layout {
    Strides x, y;
  };
  for (const Layout& l :
       {Layout{{5, 1}, {5, 1}}, {{1, 3}, {5, 1}}, {{5, 1}, {1, 3}}, {{10, 2}, {2, 6}}}) {
    for (const int axis : {0, 1}) {
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        std::vector<double> x(60), y(60, -1.0);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i % 11);
        cumulative_sum(make_lines<2>({3, 5}, axis, {l.x, l.y}), direction, x.data(), y.data());
        for (std::int64_t i = 0; i < 3; ++i) {
          for (std::int64_t j = 0; j < 5; ++j) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < (axis == 0 ? 3 : 5); ++k) {
              const std::int64_t here = axis == 0 ? i : j;
              if (direction == Direction::forward ? k > here : k < here) continue;
              sum += x[static_cast<std::size_t>(axis == 0 ? k * l.x[0] + j * l.x[1]
                                                          : i * l.x[0] + k * l.x[1])];
            }
            EXPECT_EQ(y[static_cast<std::size_t>(i * l.y[0] + j * l.y[1])], sum);
          }
        }
      }
    }
  }
}

TEST(CumulativeSum, KeepsWhatAFloatTotalWouldLose) {
  // 2^24 + 1 is no float: summed in float, the ones would vanish.
  std::vector<float> x(1001, 1.0f), y(1001);
  x[0] = 0x1p24f;
  cumulative_sum(make_lines<2>({1001}, 0, {Strides{1}, Strides{1}}), Direction::forward, x.data(),
                 y.data());
  EXPECT_EQ(y[1000], 0x1p24f + 1000.0f);
}

TEST(CumulativeSum, MayWorkInPlace) {
  std::int32_t x[] = {1, 2, 3, 4};
  cumulative_sum(make_lines<2>({4}, 0, {Strides{1}, Strides{1}}), Direction::backward, x, x);
  EXPECT_EQ(std::vector(x, x + 4), (std::vector{10, 9, 7, 4}));
}

}  // namespace
}  // namespace heed::kernels
