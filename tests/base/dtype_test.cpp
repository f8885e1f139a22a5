// Element types: the list and what derives from it, and bfloat16's rounding.
#include "heed/base/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>

namespace heed {
namespace {

constexpr DType kAll[] = {DType::f32, DType::f64, DType::bf16,   DType::i32,
                          DType::i64, DType::u8,  DType::boolean};

float through_bf16(float x) { return static_cast<float>(BFloat16(x)); }

TEST(DTypeTest, SizesAndNames) {
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::f64), 8u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::i32), 4u);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_EQ(size_of(DType::u8), 1u);
  EXPECT_EQ(size_of(DType::boolean), 1u);
  EXPECT_EQ(name_of(DType::f32), "f32");
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  std::set<std::string_view> names;
  for (const DType dtype : kAll) names.insert(name_of(dtype));
  EXPECT_EQ(names.size(), std::size(kAll));
}

TEST(DTypeTest, VisitGivesTheTypeBehindIt) {
  for (const DType dtype : kAll) {
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      EXPECT_EQ(dtype_of<T>, dtype);
      EXPECT_EQ(sizeof(T), size_of(dtype));
      EXPECT_EQ(zero, T{});
    });
  }
}

TEST(DTypeTest, FloatingOnes) {
  std::set<DType> floating;
  for (const DType dtype : kAll) {
    if (is_floating(dtype)) floating.insert(dtype);
  }
  EXPECT_EQ(floating, (std::set<DType>{DType::f32, DType::f64, DType::bf16}));
}

TEST(BFloat16Test, KeepsWhatFits) {
  for (const float x : {0.0f, -0.0f, 1.0f, -2.5f, 0x1.fep127f, 0x1p-126f, 0x1p-133f}) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(through_bf16(x)), std::bit_cast<std::uint32_t>(x)) << x;
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(through_bf16(kInfinity), kInfinity);
  EXPECT_EQ(through_bf16(-kInfinity), -kInfinity);
}

TEST(BFloat16Test, RoundsToNearestTiesToEven) {
  EXPECT_EQ(through_bf16(0x1.01p0f), 0x1.00p0f);
  EXPECT_EQ(through_bf16(0x1.03p0f), 0x1.04p0f);
  EXPECT_EQ(through_bf16(0x1.010002p0f), 0x1.02p0f);
  EXPECT_EQ(through_bf16(0x1.00fffep0f), 0x1.00p0f);
  EXPECT_EQ(through_bf16(std::numeric_limits<float>::max()),
            std::numeric_limits<float>::infinity());
}

// Against a search for the nearest of the two neighbours, in double.
TEST(BFloat16Test, IsNeverFartherThanTheOtherNeighbour) {
  for (std::uint64_t bits = 0; bits < 0x7f000000u; bits += 65521) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const double down = std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xffff0000u);
    const double up =
        std::bit_cast<float>((static_cast<std::uint32_t>(bits) & 0xffff0000u) + 0x10000u);
    const double best = std::min(x - down, up - x);
    EXPECT_EQ(std::abs(through_bf16(x) - static_cast<double>(x)), best) << x;
    EXPECT_EQ(through_bf16(-x), -through_bf16(x));
  }
}

TEST(BFloat16Test, NaNStaysAQuietNaN) {
  for (const std::uint32_t bits : {0x7fc00000u, 0x7f800001u, 0xffffffffu, 0x7fffffffu}) {
    const BFloat16 y(std::bit_cast<float>(bits));
    EXPECT_TRUE(std::isnan(static_cast<float>(y)));
    EXPECT_NE(y.bits & 0x40, 0) << "quiet";
    EXPECT_EQ(y.bits >> 15, bits >> 31) << "the sign stays";
  }
}

}  // namespace
}  // namespace heed
