// What the tests of the ops cannot see: layouts of outputs, and blocks at unaligned starts.
#include "heed/kernels/order.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace heed::kernels {
namespace {

TEST(ArgExtreme, EveryLengthAndPlace) {
  for (std::int64_t n = 1; n <= 140; ++n) {
    for (std::int64_t place = 0; place < n; ++place) {
      std::vector<float> x(static_cast<std::size_t>(n), 2.0f);
      const Lines<2> line = make_lines<2>({n}, 0, {Strides{1}, Strides{1}});
      std::int64_t found = -1;
      x[static_cast<std::size_t>(place)] = 3.0f;
      arg_extreme(Extreme::maximum, line, x.data(), &found);
      EXPECT_EQ(found, place);
      x[static_cast<std::size_t>(place)] = std::numeric_limits<float>::quiet_NaN();
      arg_extreme(Extreme::minimum, line, x.data(), &found);
      EXPECT_EQ(found, place);
    }
  }
}

TEST(ArgExtreme, AllEqualNamesTheFirst) {
  const std::vector<double> same(200, -std::numeric_limits<double>::infinity());
  const Lines<2> line = make_lines<2>({200}, 0, {Strides{1}, Strides{1}});
  std::int64_t found = -1;
  for (const Extreme which : {Extreme::maximum, Extreme::minimum}) {
    arg_extreme(which, line, same.data(), &found);
    EXPECT_EQ(found, 0);
  }
}

TEST(TopKKernel, WritesStridedOutputsAndNothingElse) {
  const std::vector<float> x = {5, 1, 9, 9, 3};
  std::vector<float> values(6, -1.0f);
  std::vector<std::int64_t> indices(9, -1);
  top_k(make_lines<3>({5}, 0, {Strides{1}, Strides{2}, Strides{3}}), 3, x.data(), values.data(),
        indices.data());
  EXPECT_EQ(values, (std::vector<float>{9, -1, 9, -1, 5, -1}));
  EXPECT_EQ(indices, (std::vector<std::int64_t>{2, -1, -1, 3, -1, -1, 0, -1, -1}));
}

TEST(TopKKernel, RisingAndFallingLines) {
  std::vector<std::int32_t> x(1000), values(10);
  std::vector<std::int64_t> indices(10);
  const Lines<3> line = make_lines<3>({1000}, 0, {Strides{1}, Strides{1}, Strides{1}});
  for (const int sign : {1, -1}) {
    for (int i = 0; i < 1000; ++i) x[static_cast<std::size_t>(i)] = sign * i;
    top_k(line, 10, x.data(), values.data(), indices.data());
    for (std::int64_t i = 0; i < 10; ++i) {
      EXPECT_EQ(indices[static_cast<std::size_t>(i)], sign > 0 ? 999 - i : i);
    }
  }
}

TEST(SortKernel, EqualsKeepTheirOrderInBothDirections) {
  const std::vector<double> x = {0.0, -0.0, 1.0, 0.0, 1.0};
  std::vector<double> values(5);
  std::vector<std::int64_t> indices(5);
  const Lines<3> line = make_lines<3>({5}, 0, {Strides{1}, Strides{1}, Strides{1}});
  sort(line, false, x.data(), values.data(), indices.data());
  EXPECT_EQ(indices, (std::vector<std::int64_t>{0, 1, 3, 2, 4}));
  sort(line, true, x.data(), values.data(), indices.data());
  EXPECT_EQ(indices, (std::vector<std::int64_t>{2, 4, 0, 1, 3}));
}

}  // namespace
}  // namespace heed::kernels
