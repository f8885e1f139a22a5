// Comparison and selection over strided operands.
#include "heed/kernels/choose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "heed/base/dtype.h"

namespace heed::kernels {
namespace {

template <typename T>
std::vector<bool> compared(Compare op, const std::vector<T>& a, const std::vector<T>& b) {
  const auto n = static_cast<std::int64_t>(a.size());
  const auto y = std::make_unique<bool[]>(a.size());
  compare(op, make_nest<3>({n}, {Strides{1}, Strides{1}, Strides{1}}), a.data(), b.data(), y.get());
  return std::vector<bool>(y.get(), y.get() + n);
}

template <typename T>
class CompareTest : public testing::Test {};
using ComparedTypes = testing::Types<float, double, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(CompareTest, ComparedTypes);

TYPED_TEST(CompareTest, SixRelations) {
  const std::vector<TypeParam> a = {1, 2, 3}, b = {2, 2, 2};
  EXPECT_EQ(compared(Compare::equal, a, b), (std::vector{false, true, false}));
  EXPECT_EQ(compared(Compare::not_equal, a, b), (std::vector{true, false, true}));
  EXPECT_EQ(compared(Compare::less, a, b), (std::vector{true, false, false}));
  EXPECT_EQ(compared(Compare::less_equal, a, b), (std::vector{true, true, false}));
  EXPECT_EQ(compared(Compare::greater, a, b), (std::vector{false, false, true}));
  EXPECT_EQ(compared(Compare::greater_equal, a, b), (std::vector{false, true, true}));
}

TEST(Compare, NanEqualsNothing) {
  const std::vector<float> a = {NAN, NAN, 1.0f}, b = {NAN, 1.0f, NAN};
  for (const Compare op : {Compare::equal, Compare::less, Compare::less_equal, Compare::greater,
                           Compare::greater_equal}) {
    EXPECT_EQ(compared(op, a, b), (std::vector{false, false, false}));
  }
  EXPECT_EQ(compared(Compare::not_equal, a, b), (std::vector{true, true, true}));
}

TEST(Compare, StridedAndBroadcast) {
  const double a[] = {1, 0, 2, 0, 3, 0};  // every second
  const double b[] = {2};
  bool y[9] = {};
  compare(Compare::less, make_nest<3>({3, 3}, {Strides{0, 2}, Strides{0, 0}, Strides{1, 3}}), a, b,
          y);
  const bool expected[] = {true, true, true, false, false, false, false, false, false};
  EXPECT_TRUE(std::equal(y, y + 9, expected));
}

TEST(Compare, Booleans) {
  const bool a[] = {false, true}, b[] = {true, true};
  bool y[2];
  compare(Compare::less, make_nest<3>({2}, {Strides{1}, Strides{1}, Strides{1}}), a, b, y);
  EXPECT_TRUE(y[0]);
  EXPECT_FALSE(y[1]);
}

TEST(Select, EveryElementTypeStridedAndLarge) {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    constexpr std::int64_t kRows = 300, kColumns = 101;
    const auto condition = std::make_unique<bool[]>(kRows * kColumns);
    const auto a = std::make_unique<T[]>(kColumns);
    const auto b = std::make_unique<T[]>(kRows);
    const auto y = std::make_unique<T[]>(kRows * kColumns);
    const auto value = [](std::int64_t i) {
      if constexpr (std::is_same_v<T, BFloat16>) {
        return BFloat16(static_cast<float>(i % 50));
      } else {
        return static_cast<T>(i % 50);
      }
    };
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) condition[i] = i * 7 % 3 == 0;
    for (std::int64_t i = 0; i < kColumns; ++i) a[i] = value(i);
    for (std::int64_t i = 0; i < kRows; ++i) b[i] = value(3 * i + 1);
    select(make_nest<4>({kRows, kColumns},
                        {Strides{1, kRows}, Strides{0, 1}, Strides{1, 0}, Strides{kColumns, 1}}),
           condition.get(), a.get(), b.get(), y.get());
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        ASSERT_EQ(y[i * kColumns + j], condition[i + j * kRows] ? a[j] : b[i]);
      }
    }
  };
#define HEED_X(name, type, file_name) check(type{});
  HEED_DTYPES(HEED_X)
#undef HEED_X
}

}  // namespace
}  // namespace heed::kernels
