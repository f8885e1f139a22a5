// Rows as 8-bit integers: against the plain twin, in every form of integers, and limits.
#include "heed/kernels/packed/quantize_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

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
};

// Rows of `columns` numbers that are `columns` + 2 apart, to rows of `room` integers.
Quantized quantized(const std::vector<float>& x, std::int64_t rows, std::int64_t columns,
                    std::int64_t room, IntegerForm form = IntegerForm::bytes) {
  Quantized result{
      .integers =
          std::vector<std::int8_t>(static_cast<std::size_t>(rows * room * size_of(form)) + 1, 77),
      .scales = std::vector<float>(static_cast<std::size_t>(rows * scale_groups(columns)))};
  const FloatRows from{.rows = rows, .columns = columns, .x = x.data(), .stride = columns + 2};
  quantize_rows(from, {.integers = result.integers.data(),
                       .stride = room,
                       .scales = result.scales.data(),
                       .form = form});
  EXPECT_EQ(result.integers.back(), 77) << "wrote past the end";
  result.integers.pop_back();
  return result;
}

Quantized one_row(std::vector<float> x) {
  const auto n = static_cast<std::int64_t>(x.size());
  x.resize(x.size() + 2);
  return quantized(x, 1, n, n);
}

// The word of column i of the row that starts at `first`: of four columns, 1 and 2 are swapped.
int word_of(const Quantized& words, std::int64_t first, std::int64_t i) {
  constexpr std::int64_t kPlace[] = {0, 2, 1, 3};
  std::int16_t word;
  std::memcpy(&word, words.integers.data() + 2 * (first + i / 4 * 4 + kPlace[i % 4]), sizeof word);
  return word;
}

TEST(QuantizeRows, EqualsItsTwinOnEveryInstructionSet) {
  test::for_each_way([](const std::string& way) {
    for (const std::int64_t columns : {1, 3, 4, 5, 16, 17, 51, 63, 64, 65, 1030}) {
      for (const std::int64_t rows : {0, 1, 3}) {
        const std::int64_t room = padded_in(PackedForm::int8, columns);
        const std::vector<float> x = random_floats(rows * (columns + 2), 1, 3.0f);
        const Quantized actual = quantized(x, rows, columns, room);
        const Quantized flipped = quantized(x, rows, columns, room, IntegerForm::unsigned_bytes);
        const Quantized words = quantized(x, rows, columns, room, IntegerForm::words);
        EXPECT_EQ(flipped.scales, actual.scales) << way;
        EXPECT_EQ(words.scales, actual.scales) << way;
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto plain = reference::quantize_row(x.data() + r * (columns + 2), columns);
          for (std::size_t g = 0; g < plain.scales.size(); ++g) {
            const std::size_t at = static_cast<std::size_t>(r) * plain.scales.size() + g;
            ASSERT_EQ(actual.scales[at], plain.scales[g]) << way;
          }
          for (std::int64_t i = 0; i < room; ++i) {
            const auto at = static_cast<std::size_t>(r * room + i);
            const int expected = i < columns ? plain.integers[static_cast<std::size_t>(i)] : 0;
            ASSERT_EQ(actual.integers[at], expected) << way << " " << columns << " at " << i;
            ASSERT_EQ(static_cast<std::uint8_t>(flipped.integers[at]), expected + 128) << way;
            ASSERT_EQ(word_of(words, r * room, i), expected)
                << way << " " << columns << " at " << i;
          }
        }
      }
    }
  });
}

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
        EXPECT_TRUE(std::isnan(one_row(x).scales[0])) << way << " " << bad << " at " << at;
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
