// Rows of blocks: which types of GGUF files are such rows, and how numbers are rounded to them.
#include "heed/kernels/packed/block_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/packed/half.h"
#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/values.h"

namespace heed::kernels::block_rows_test {
namespace {

using heed::test::random_floats;
using test::GgufForm;
using test::kGgufForms;
using test::OwnedMatrix;

TEST(BlockRows, TypesOfGgufFiles) {
  for (const GgufForm& form : kGgufForms) EXPECT_EQ(block_form(form.type), form.blocks);
  EXPECT_FALSE(block_form(io::TensorType::Q6_K));
  EXPECT_FALSE(block_form(io::TensorType::F32));
}

double mean_square(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - b[i], 2);
  return sum / static_cast<double>(a.size());
}

std::vector<float> rounded(const std::vector<float>& row, BlockForm form) {
  const auto in = static_cast<std::int64_t>(row.size());
  const OwnedMatrix packed(PackedForm::int4, 1, in, form);
  pack(row.data(), in, packed.target());
  std::vector<float> back(row.size());
  unpack_row(packed.matrix(), 0, back.data());
  return back;
}

TEST(RoundBlocks, LosesLessThanStepsFromTheLeastToTheGreatest) {
  const std::vector<float> row = random_floats(32 * 64, 3, 0.05f);
  std::vector<float> plain;
  for (std::size_t at = 0; at < row.size(); at += 32) {
    const auto [least, greatest] = std::minmax_element(&row[at], &row[at] + 32);
    const float step = (*greatest - *least) / 15.0f;
    for (std::size_t i = at; i < at + 32; ++i) {
      plain.push_back(std::nearbyint((row[i] - *least) / step) * step + *least);
    }
  }
  EXPECT_LT(mean_square(rounded(row, {4, BlockScales::shifted}), row),
            0.95 * mean_square(plain, row));
  EXPECT_LT(mean_square(rounded(row, {8, BlockScales::centred}), row),
            0.01 * mean_square(plain, row));
}

TEST(RoundBlocks, WhatIsRoundedAlreadyDoesNotChange) {
  // Steps of 1/64 from -1/8: F16 has these numbers.
  std::vector<float> row;
  for (int i = 0; i < 64; ++i) row.push_back(static_cast<float>(i * 7 % 16) / 64.0f - 0.125f);
  EXPECT_EQ(rounded(row, {4, BlockScales::shifted}), row);
}

TEST(RoundBlocks, EqualNumbersAndShortBlocks) {
  EXPECT_EQ(rounded(std::vector<float>(32, 0.5f), {4, BlockScales::shifted}),
            std::vector<float>(32, 0.5f));
  EXPECT_EQ(rounded(std::vector<float>(7, 0.0f), {4, BlockScales::shifted}),
            std::vector<float>(7, 0.0f));
  EXPECT_EQ(rounded(std::vector<float>(7, 0.0f), {8, BlockScales::centred}),
            std::vector<float>(7, 0.0f));
}

TEST(RoundBlocks, NanAndInfinityMakeTheirBlockNan) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const BlockForm form :
         {BlockForm{4, BlockScales::shifted}, BlockForm{8, BlockScales::centred}}) {
      std::vector<float> row = random_floats(96, 4);
      row[40] = bad;
      const std::vector<float> back = rounded(row, form);
      for (std::size_t i = 0; i < back.size(); ++i) {
        ASSERT_EQ(std::isnan(back[i]), i / 32 == 1) << i;
      }
    }
  }
}

TEST(Half, AllNumbersComeBack) {
  for (std::uint32_t half = 0; half < 0x10000; ++half) {
    const float value = half_to_float(static_cast<std::uint16_t>(half));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    } else {
      ASSERT_EQ(float_to_half(value), half);
    }
  }
}

TEST(Half, RoundsToTheNearestAndToEven) {
  EXPECT_EQ(half_to_float(float_to_half(1.0f + 0x1p-11f)), 1.0f);
  EXPECT_EQ(half_to_float(float_to_half(1.0f + 3 * 0x1p-11f)), 1.0f + 0x1p-9f);
  EXPECT_EQ(half_to_float(float_to_half(1.0f + 0x1.2p-11f)), 1.0f + 0x1p-10f);
  EXPECT_EQ(half_to_float(float_to_half(0x1.8p-24f)), 0x1p-23f);
  EXPECT_EQ(half_to_float(float_to_half(0x1p-25f)), 0.0f);
  EXPECT_EQ(half_to_float(float_to_half(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(half_to_float(float_to_half(-65520.0f))));
}

}  // namespace
}  // namespace heed::kernels::block_rows_test
