// Rows as 8-bit integers: against the plain twin, with and without offsets, and limits.
#include "heed/kernels/packed/quantize_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/threads.h"
#include "heed/kernels/reference/packed.h"
#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using heed::test::random_floats;

struct Quantized {
  std::vector<std::int8_t> integers;
  std::vector<float> scales;
  std::vector<std::int32_t> offsets;  // empty if integers have a sign
};

// Rows of `columns` numbers that are `columns` + 2 apart, to rows of `room` integers.
Quantized quantized(const std::vector<float>& x, std::int64_t rows, std::int64_t columns,
                    std::int64_t room, bool has_offsets = false) {
  const auto groups = static_cast<std::size_t>(rows * scale_groups(columns));
  Quantized result{
      .integers = std::vector<std::int8_t>(static_cast<std::size_t>(rows * room) + 1, 77),
      .scales = std::vector<float>(groups),
      .offsets = std::vector<std::int32_t>(has_offsets ? groups : 0)};
  const FloatRows from{.rows = rows, .columns = columns, .x = x.data(), .stride = columns + 2};
  quantize_rows(from, {.integers = result.integers.data(),
                       .stride = room,
                       .scales = result.scales.data(),
                       .offsets = has_offsets ? result.offsets.data() : nullptr});
  EXPECT_EQ(result.integers.back(), 77) << "wrote past the end";
  result.integers.pop_back();
  return result;
}

Quantized one_row(std::vector<float> x, bool has_offsets = false) {
  const auto n = static_cast<std::int64_t>(x.size());
  x.resize(x.size() + 2);
  return quantized(x, 1, n, n, has_offsets);
}

TEST(QuantizeRows, EqualsItsTwinOnEveryInstructionSet) {
  test::for_each_way([](const std::string& way) {
    for (const std::int64_t columns : {1, 3, 4, 5, 16, 17, 51, 63, 64, 65, 1030}) {
      for (const std::int64_t rows : {0, 1, 3}) {
        for (const bool has_offsets : {false, true}) {
          SCOPED_TRACE(fmt::format("{} {}x{} {}", way, rows, columns, has_offsets));
          const std::int64_t room = padded_in(PackedForm::int8, columns);
          const std::vector<float> x = random_floats(rows * (columns + 2), 1, 3.0f);
          const Quantized actual = quantized(x, rows, columns, room, has_offsets);
          for (std::int64_t r = 0; r < rows; ++r) {
            const float* const row = x.data() + r * (columns + 2);
            const auto plain = has_offsets ? reference::quantize_row_with_offsets(row, columns)
                                           : reference::quantize_row(row, columns);
            for (std::size_t g = 0; g < plain.scales.size(); ++g) {
              const std::size_t at = static_cast<std::size_t>(r) * plain.scales.size() + g;
              ASSERT_EQ(actual.scales[at], plain.scales[g]);
              if (has_offsets) {
                ASSERT_EQ(actual.offsets[at], plain.offsets[g]);
              }
            }
            for (std::int64_t i = 0; i < room; ++i) {
              const int expected = i < columns ? plain.integers[static_cast<std::size_t>(i)] : 0;
              ASSERT_EQ(actual.integers[static_cast<std::size_t>(r * room + i)], expected) << i;
            }
          }
        }
      }
    }
  });
}

// ---- with offsets -------------------------------------------------------------------------------

TEST(QuantizeRows, IntegersWithOffsetsHaveSevenBits) {
  test::for_each_way([](const std::string& way) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const Quantized row =
          one_row(random_floats(64, seed, std::exp2(static_cast<float>(seed) / 8)), true);
      const auto [least, greatest] = std::ranges::minmax(row.integers);
      ASSERT_EQ(least, 0) << way;
      ASSERT_GE(greatest, 125) << way;  // never below 0, which would be above 127 without sign
    }
    // Both ends are halfway between two integers, and rounded away from each other.
    const Quantized ends = one_row({62.5f, -63.5f}, true);
    EXPECT_EQ(ends.integers, (std::vector<std::int8_t>{126, 0})) << way;
    EXPECT_EQ(ends.offsets[0], -64) << way;
  });
}

TEST(QuantizeRows, ACommonOffsetKeepsTheNumbers) {
  test::for_each_way([](const std::string& way) {
    for (const std::int64_t n : {1, 17, 63, 64, 65, 200}) {
      std::vector<float> x = random_floats(n, 5, 3.0f);
      for (float& number : x) number += 1.0f;  // so that offsets differ from the common one
      const Quantized own = one_row(x, true);
      std::vector<std::int8_t> bytes(static_cast<std::size_t>(n) + 1, 77);
      std::vector<float> scales(own.scales.size());
      quantize_rows({.rows = 1, .columns = n, .x = x.data(), .stride = n},
                    {.integers = bytes.data(),
                     .stride = n,
                     .scales = scales.data(),
                     .has_common_offset = true});
      EXPECT_EQ(bytes.back(), 77) << "wrote past the end";
      EXPECT_EQ(scales, own.scales) << way;
      for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
        const int number = static_cast<std::uint8_t>(bytes[i]) + kCommonOffset;
        ASSERT_EQ(number, own.integers[i] + own.offsets[i / 64]) << way << " at " << i;
      }
    }
  });
}

TEST(QuantizeRows, ZerosOfGroupsWithOffsetsAreExact) {
  for (const auto& [least, greatest] :
       {std::pair{0.0f, 1.0f}, {-1.0f, 0.0f}, {-0.3f, 7.0f}, {-3e38f, 3e38f}, {5.0f, 6.0f}}) {
    const Quantized row = one_row({least, 0.0f, greatest}, true);
    EXPECT_EQ(row.integers[1] + row.offsets[0], 0) << least;
    const float scale = row.scales[0];
    EXPECT_NEAR(scale * static_cast<float>(row.integers[0] + row.offsets[0]), least, 0.51f * scale);
    EXPECT_NEAR(scale * static_cast<float>(row.integers[2] + row.offsets[0]), greatest,
                0.51f * scale);
  }
}

TEST(QuantizeRows, TinyRowsWithOffsetsBecomeZeros) {
  const Quantized tiny = one_row({1e-38f, -1e-38f, 1e-45f, 0.0f, 1e-31f}, true);
  EXPECT_EQ(tiny.integers, std::vector<std::int8_t>(5, 0));
  EXPECT_EQ(tiny.offsets[0], 0);
  EXPECT_TRUE(std::isfinite(tiny.scales[0]));
}

// ---- without offsets ----------------------------------------------------------------------------

TEST(QuantizeRows, HalvesAreRoundedToEven) {
  test::for_each_way([](const std::string& way) {
    // The greatest magnitude is 127, so the scale is 1.
    const Quantized row = one_row({127.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.49f, -126.5f});
    EXPECT_EQ(row.scales[0], 1.0f) << way;
    EXPECT_EQ(row.integers, (std::vector<std::int8_t>{127, 0, 2, 2, 0, -2, -2, 0, -126})) << way;
  });
}

TEST(QuantizeRows, EqualMagnitudesAreTheLimits) {
  test::for_each_way([](const std::string& way) {
    for (const float x : {1e-29f, 0.3f, 1.0f, 7e37f}) {
      const Quantized row = one_row({x, -x, x, x, -x});
      EXPECT_EQ(row.integers, (std::vector<std::int8_t>{127, -127, 127, 127, -127})) << way << x;
      EXPECT_EQ(row.scales[0], x / 127.0f) << way;
    }
  });
}

TEST(QuantizeRows, AGreatNumberCostsItsGroupOnly) {
  std::vector<float> x(130, 1.0f);
  x[70] = 1000.0f;
  const Quantized row = one_row(x);
  EXPECT_EQ(row.scales, (std::vector<float>{1.0f / 127.0f, 1000.0f / 127.0f, 1.0f / 127.0f}));
  EXPECT_EQ(row.integers[63], 127);
  EXPECT_EQ(row.integers[64], 0);
  EXPECT_EQ(row.integers[128], 127);
}

TEST(QuantizeRows, NeverGivesMinus128) {
  for (const float x : random_floats(5000, 2)) {
    const Quantized row = one_row({-std::abs(x)});
    ASSERT_EQ(row.integers[0], x == 0.0f ? 0 : -127) << x;
  }
}

TEST(QuantizeRows, TinyRowsAndZerosBecomeZeros) {
  test::for_each_way([](const std::string& way) {
    const std::vector<std::int8_t> zeros(5, 0);
    const Quantized zero = one_row({0.0f, -0.0f, 0.0f, 0.0f, 0.0f});
    EXPECT_EQ(zero.integers, zeros) << way;
    EXPECT_EQ(zero.scales[0], 0.0f) << way;
    const Quantized tiny = one_row({1e-38f, -1e-38f, 1e-45f, 0.0f, 1e-31f});
    EXPECT_EQ(tiny.integers, zeros) << way;
    EXPECT_TRUE(std::isfinite(tiny.scales[0])) << way;
    const Quantized small = one_row({2e-30f, 0.0f, -1e-30f});
    EXPECT_EQ(small.integers, (std::vector<std::int8_t>{127, 0, -64})) << way;
  });
}

TEST(QuantizeRows, NanAndInfinityMakeTheScaleNan) {
  test::for_each_way([](const std::string& way) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
      for (const std::size_t at : {0, 15, 16, 18}) {
        std::vector<float> x(19, 1.0f);
        x[at] = bad;
        for (const bool has_offsets : {false, true}) {
          EXPECT_TRUE(std::isnan(one_row(x, has_offsets).scales[0]))
              << way << " " << bad << " at " << at;
        }
      }
    }
  });
}

TEST(QuantizeRows, ThreadsDoNotChangeTheResult) {
  const std::int64_t rows = 500, columns = 300;
  const std::vector<float> x = random_floats(rows * (columns + 2), 3);
  const int before = num_threads();
  set_num_threads(1);
  const Quantized one = quantized(x, rows, columns, columns);
  set_num_threads(3);
  const Quantized three = quantized(x, rows, columns, columns);
  set_num_threads(before);
  EXPECT_EQ(one.integers, three.integers);
  EXPECT_EQ(one.scales, three.scales);
}

}  // namespace
}  // namespace heed::kernels
