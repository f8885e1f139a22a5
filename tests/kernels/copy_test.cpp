// Copies between layouts and element types, and filling.
#include "heed/kernels/copy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "heed/base/error.h"

namespace heed::kernels {
namespace {

struct Layout {
  Shape shape;
  Strides from, to;
};

template <typename T>
void check_copy(const Layout& l) {
  const auto nest = make_nest<2>(l.shape, {l.from, l.to});
  std::size_t elements = 2;  // one more than is used, to see that it is not
  for (int i = 0; i < l.shape.rank(); ++i) {
    elements += static_cast<std::size_t>(l.shape[i] * std::max(l.from[i], l.to[i]));
  }
  std::vector<T> from(elements), to(elements, T{7});
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i * 2654435761u >> 3);
  std::vector<T> expected = to;
  for (std::int64_t i = 0; i < nest.count(); ++i) {
    const auto at = nest.at(i);
    expected[static_cast<std::size_t>(at[1])] = from[static_cast<std::size_t>(at[0])];
  }
  copy(nest, sizeof(T), from.data(), to.data());
  EXPECT_EQ(to, expected) << to_string(l.shape) << to_string(l.from) << to_string(l.to);
}

void check_copy_all(const Layout& l) {
  check_copy<std::uint8_t>(l);
  check_copy<std::uint16_t>(l);
  check_copy<std::uint32_t>(l);
  check_copy<std::uint64_t>(l);
}

TEST(Copy, RowsGapsAndBroadcasts) {
  check_copy_all({{17}, {1}, {1}});
  check_copy_all({{7, 9}, {9, 1}, {20, 2}});
  check_copy_all({{7, 9}, {0, 1}, {9, 1}});
  check_copy_all({{7, 9}, {1, 0}, {9, 1}});
  check_copy_all({{}, {}, {}});
  check_copy_all({{3, 0}, {1, 1}, {1, 1}});
  check_copy_all({{40'000}, {1}, {3}});
}

TEST(Copy, TransposesOfEverySize) {
  for (const std::int64_t rows : {1, 7, 15, 16, 17, 63, 65}) {
    for (const std::int64_t columns : {1, 15, 16, 17, 33, 64}) {
      check_copy_all({{rows, columns}, {1, rows}, {columns, 1}});
      check_copy_all({{3, rows, columns}, {rows * columns, 1, rows}, {rows * columns, columns, 1}});
      // With gaps between the rows of either side.
      check_copy_all({{2, rows, columns}, {70 * 70, 1, 70}, {80 * 80, 80, 1}});
    }
  }
  check_copy_all({{300, 290}, {1, 300}, {290, 1}});  // several cells
  check_copy_all({{0, 20, 30}, {600, 1, 20}, {600, 30, 1}});
}

TEST(Copy, ReversedAxesOfHigherRank) {
  check_copy_all({{5, 6, 7, 8}, {1, 5, 30, 210}, {336, 56, 8, 1}});
  check_copy_all({{20, 3, 17}, {1, 20, 60}, {51, 17, 1}});
}

TEST(Copy, AnotherElementSizeIsABug) {
  int x = 0, y = 0;
  EXPECT_THROW(copy(make_nest<2>({}, {}), 3, &x, &y), InternalError);
}

template <typename From, typename To>
std::vector<To> cast_values(const std::vector<From>& from) {
  std::vector<std::conditional_t<std::is_same_v<To, bool>, char, To>> to(from.size());
  const auto n = static_cast<std::int64_t>(from.size());
  cast(make_nest<2>({n}, {Strides{1}, Strides{1}}), dtype_of<From>, from.data(), dtype_of<To>,
       to.data());
  return {to.begin(), to.end()};
}

TEST(Cast, BetweenNumbers) {
  EXPECT_EQ((cast_values<float, double>({1.5f, -2.0f})), (std::vector<double>{1.5, -2.0}));
  EXPECT_EQ((cast_values<double, float>({1.0 + 1e-12})), (std::vector<float>{1.0f}));
  EXPECT_EQ((cast_values<float, std::int64_t>({2.9f, -2.9f})), (std::vector<std::int64_t>{2, -2}));
  EXPECT_EQ((cast_values<std::int64_t, std::int32_t>({7, -7})), (std::vector<std::int32_t>{7, -7}));
  EXPECT_EQ((cast_values<std::uint8_t, float>({0, 255})), (std::vector<float>{0.0f, 255.0f}));
}

TEST(Cast, ToBooleanIsWhetherItIsNotZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ((cast_values<float, bool>({0.0f, -0.0f, 0.25f, nan})),
            (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ((cast_values<std::int64_t, bool>({0, 256})), (std::vector<bool>{false, true}));
  EXPECT_EQ((cast_values<BFloat16, bool>({BFloat16(0.0f), BFloat16(0.5f)})),
            (std::vector<bool>{false, true}));
}

TEST(Cast, Bf16RoundsToNearestEven) {
  const float step = 0x1p-7f;  // between bf16 numbers in [1, 2)
  const std::vector<float> from = {1.0f, 1.0f + step / 2, 1.0f + step * 1.5f, 1.0f + step * 0.51f,
                                   INFINITY};
  const std::vector<float> expected = {1.0f, 1.0f, 1.0f + 2 * step, 1.0f + step, INFINITY};
  const auto rounded = cast_values<float, BFloat16>(from);
  EXPECT_EQ((cast_values<BFloat16, float>(rounded)), expected);
  EXPECT_EQ((cast_values<BFloat16, std::int32_t>({BFloat16(-3.5f)})), (std::vector{-3}));
  const auto nan = cast_values<float, BFloat16>({std::numeric_limits<float>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(static_cast<float>(nan[0])));
}

TEST(Cast, StridedAndBroadcast) {
  const std::vector<std::int32_t> from = {1, 2, 3};
  std::vector<float> to(9, -1.0f);
  cast(make_nest<2>({2, 3}, {Strides{0, 1}, Strides{1, 3}}), DType::i32, from.data(), DType::f32,
       to.data());
  EXPECT_EQ(to, (std::vector<float>{1, 1, -1, 2, 2, -1, 3, 3, -1}));
}

TEST(Fill, TouchesOnlyItsElements) {
  std::vector<float> x(12, 0.0f);
  fill(make_nest<1>({2, 3}, {Strides{6, 2}}), 5.0f, x.data());
  EXPECT_EQ(x, (std::vector<float>{5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0}));
  std::vector<std::int64_t> y(50'001, 1);
  fill(make_nest<1>({50'000}, {Strides{1}}), std::int64_t{9}, y.data());
  EXPECT_EQ(std::accumulate(y.begin(), y.end(), std::int64_t{0}), 9 * 50'000 + 1);
  EXPECT_EQ(y.back(), 1);
}

}  // namespace
}  // namespace heed::kernels
