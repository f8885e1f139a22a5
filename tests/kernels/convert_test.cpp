// bfloat16 to float and back: every bfloat16, all kinds of float, odd lengths, every instruction
// set.
#include "heed/kernels/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels {
namespace {

BFloat16 from_bits(std::uint32_t bits) {
  BFloat16 value;
  value.bits = static_cast<std::uint16_t>(bits);
  return value;
}

std::vector<BFloat16> narrowed(const std::vector<float>& x) {
  std::vector<BFloat16> y(x.size());
  convert(x, y);
  return y;
}

TEST(Convert, EveryBFloat16WidensExactly) {
  std::vector<BFloat16> x;
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) x.push_back(from_bits(bits));
  test::for_each_isa([&](Isa isa) {
    std::vector<float> y(x.size());
    convert(x, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), i << 16) << name_of(isa);
    }
  });
}

TEST(Convert, RoundsAsTheScalarTypeDoes) {
  std::vector<float> x;
  // Each upper half with the lower halves around a tie; among them infinities, NaNs and denormals.
  for (std::uint32_t upper = 0; upper <= 0xffff; upper += 7) {
    for (const std::uint32_t lower : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      x.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  const RandomStream random{1, 1};
  for (std::uint64_t i = 0; i < 100000; ++i) x.push_back(std::bit_cast<float>(random.bits(i)));
  test::for_each_isa([&](Isa isa) {
    const std::vector<BFloat16> y = narrowed(x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i].bits, BFloat16(x[i]).bits) << x[i] << " on " << name_of(isa);
    }
  });
}

TEST(Convert, TiesGoToEvenAndLargeValuesToInfinity) {
  test::for_each_isa([](Isa) {
    const std::vector<float> x = {0x1.01p0f, 0x1.03p0f, 0x1.010002p0f, -0x1.03p0f,
                                  std::numeric_limits<float>::max()};
    const std::vector<BFloat16> y = narrowed(x);
    EXPECT_EQ(static_cast<float>(y[0]), 0x1.00p0f);
    EXPECT_EQ(static_cast<float>(y[1]), 0x1.04p0f);
    EXPECT_EQ(static_cast<float>(y[2]), 0x1.02p0f);
    EXPECT_EQ(static_cast<float>(y[3]), -0x1.04p0f);
    EXPECT_EQ(static_cast<float>(y[4]), std::numeric_limits<float>::infinity());
  });
}

TEST(Convert, NaNStaysNaN) {
  test::for_each_isa([](Isa) {
    // The payload of the first lies in the half that is cut off.
    const std::vector<float> x = {std::bit_cast<float>(0x7f800001u),
                                  std::bit_cast<float>(0xffffffffu)};
    for (const BFloat16 y : narrowed(x)) EXPECT_TRUE(std::isnan(static_cast<float>(y)));
  });
}

TEST(Convert, AnyLengthAndNothingBehindIt) {
  test::for_each_isa([](Isa) {
    for (const std::size_t n : {0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 16384, 16385, 50001}) {
      std::vector<float> x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 256) - 100.0f;
      std::vector<BFloat16> y(n + 1, from_bits(0x1234));
      convert(x, std::span(y).first(n));
      std::vector<float> z(n + 1, 77.0f);
      convert(std::span<const BFloat16>(y).first(n), std::span(z).first(n));
      EXPECT_EQ(y.back(), from_bits(0x1234)) << n;
      EXPECT_EQ(z.back(), 77.0f) << n;
      z.pop_back();
      EXPECT_EQ(z, x) << n;
    }
  });
}

TEST(Convert, LengthsMustAgree) {
  std::vector<float> x(3);
  std::vector<BFloat16> y(4);
  EXPECT_THROW(convert(x, y), InternalError);
}

}  // namespace
}  // namespace heed::kernels
