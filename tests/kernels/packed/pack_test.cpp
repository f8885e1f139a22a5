// Packed matrices: the place of every number, padding, and what comes back.
#include "heed/kernels/packed/pack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/kernels/reference/packed.h"
#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using heed::test::random_floats;
using test::kForms;
using test::OwnedMatrix;

constexpr std::int64_t kOuts[] = {1, 15, 16, 17, 77}, kIns[] = {0, 1, 3, 4, 5, 51};

TEST(Pack, PlacesOfNumbersAreThoseOfTheHeader) {
  // Row 17, column 5 is the number of row 1 of panel 1.
  const std::int64_t out = 18, in = 6;
  std::vector<float> matrix(static_cast<std::size_t>(out * in), 0.0f);
  matrix[17 * 6 + 5] = 1.0f;
  const OwnedMatrix f32(PackedForm::f32, out, in, matrix);
  const auto* const floats = reinterpret_cast<const float*>(f32.data().data());
  for (std::int64_t i = 0; i < 2 * 16 * 6; ++i) {
    EXPECT_EQ(floats[i], i == 16 * 6 + 5 * 16 + 1 ? 1.0f : 0.0f) << i;
  }
  const OwnedMatrix bf16(PackedForm::bf16, out, in, matrix);  // columns 4 and 5 are a pair
  const auto* const halves = reinterpret_cast<const BFloat16*>(bf16.data().data());
  for (std::int64_t i = 0; i < 2 * 16 * 6; ++i) {
    const float expected = i == 16 * 6 + 2 * 16 * 2 + 1 * 2 + 1 ? 1.0f : 0.0f;
    EXPECT_EQ(static_cast<float>(halves[i]), expected) << i;
  }
  const OwnedMatrix int8(PackedForm::int8, out, in, matrix);  // columns 4 to 7 are a group
  for (std::size_t i = 0; i < 2 * 16 * 8; ++i) {
    const int expected = i == 16 * 8 + 1 * 16 * 4 + 1 * 4 + 1 ? 127 : 0;
    EXPECT_EQ(static_cast<int>(int8.data()[i]), expected) << i;
  }
}

TEST(Pack, CopiedRowsAreThoseOfTheMatrix) {
  const std::int64_t out = 77;
  for (const std::int64_t in : kIns) {
    const std::vector<float> matrix = random_floats(out * in, 1);
    for (const PackedForm form : {PackedForm::f32, PackedForm::bf16, PackedForm::int8}) {
      const OwnedMatrix all(form, out, in, matrix);
      const std::vector<std::int32_t> rows = {76, 0, 16, 15, 0, 31, 33, 3, 4,
                                              5,  6, 7,  8,  9, 10, 70, 64};
      std::vector<float> chosen;
      for (const std::int32_t row : rows) {
        chosen.insert(chosen.end(), matrix.begin() + row * in, matrix.begin() + (row + 1) * in);
      }
      const OwnedMatrix expected(form, std::ssize(rows), in, chosen);
      OwnedMatrix copied(form, std::ssize(rows), in);
      copy_rows(all.matrix(), rows, copied.target());
      EXPECT_EQ(copied.data(), expected.data()) << name_of(form) << ", " << in << " columns";
      EXPECT_EQ(copied.scales(), expected.scales());
      EXPECT_EQ(copied.sums(), expected.sums());
    }
  }
}

TEST(Pack, RowsComeBack) {
  for (const std::int64_t out : kOuts) {
    for (const std::int64_t in : kIns) {
      const std::vector<float> matrix = random_floats(out * in, 1);
      std::vector<float> row(static_cast<std::size_t>(in));
      for (const PackedForm form : kForms) {
        const OwnedMatrix packed(form, out, in, matrix);
        for (std::int64_t r = 0; r < out; ++r) {
          const float* const from = matrix.data() + r * in;
          const reference::QuantizedRow plain = reference::quantize_row(from, in);
          unpack_row(packed.matrix(), r, row.data());
          for (std::size_t i = 0; i < row.size(); ++i) {
            float expected = from[i];
            if (form == PackedForm::bf16) expected = static_cast<float>(BFloat16(expected));
            if (form == PackedForm::int8) {
              expected = static_cast<float>(plain.integers[i]) * plain.scales[i / kScaleColumns];
            }
            if (form == PackedForm::int4) {
              ASSERT_NEAR(row[i], expected, 0.3f) << "a step of numbers from -2 to 2";
              continue;
            }
            ASSERT_EQ(row[i], expected) << name_of(form) << " " << out << "x" << in << " row " << r;
          }
        }
      }
    }
  }
}

TEST(Pack, PaddingIsZero) {
  const std::int64_t out = 17, in = 5;
  const std::vector<float> ones(static_cast<std::size_t>(out * in), 1.0f);
  for (const PackedForm form : {PackedForm::f32, PackedForm::bf16, PackedForm::int8}) {
    const OwnedMatrix packed(form, out, in, ones);
    std::int64_t filled = 0;
    for (const std::byte b : packed.data()) filled += b != std::byte{0};
    // 1.0f is 00 00 80 3f, as bf16 80 3f, as int8 7f.
    EXPECT_EQ(filled, out * in * (form == PackedForm::int8 ? 1 : 2)) << name_of(form);
    if (form != PackedForm::int8) continue;
    for (std::size_t row = 0; row < 32; ++row) {
      EXPECT_EQ(packed.scales()[row], row < 17 ? 1.0f / 127.0f : 0.0f);
      EXPECT_EQ(packed.sums()[row], row < 17 ? 5 * 127 : 0);
    }
  }
}

TEST(Pack, ReadsRowsThatAreApart) {
  const std::int64_t out = 19, in = 7, stride = 11;
  const std::vector<float> wide = random_floats(out * stride, 2);
  std::vector<float> tight;
  for (std::int64_t r = 0; r < out; ++r) {
    tight.insert(tight.end(), wide.begin() + r * stride, wide.begin() + r * stride + in);
  }
  for (const PackedForm form : kForms) {
    const OwnedMatrix from_tight(form, out, in, tight);
    const OwnedMatrix from_wide(form, out, in);
    pack(wide.data(), stride, from_wide.target());
    EXPECT_EQ(from_wide.data(), from_tight.data()) << name_of(form);
  }
}

TEST(Pack, NumbersThatAreRoundedAlreadyAreTakenAsTheyAre) {
  for (const std::int64_t in : {1, 4, 51, 64, 150}) {
    const std::int64_t out = 33;
    const std::vector<float> matrix = random_floats(out * in, 3);
    const OwnedMatrix bf16(PackedForm::bf16, out, in, matrix);
    const std::vector<BFloat16> halves(matrix.begin(), matrix.end());
    const OwnedMatrix again(PackedForm::bf16, out, in);
    pack_bf16(halves.data(), again.target());
    EXPECT_EQ(again.data(), bf16.data());

    const OwnedMatrix int8(PackedForm::int8, out, in, matrix);
    std::vector<std::int8_t> integers(static_cast<std::size_t>(out * in));
    for (std::int64_t r = 0; r < out; ++r) unpack_row(int8.matrix(), r, integers.data() + r * in);
    const OwnedMatrix same(PackedForm::int8, out, in);
    const std::int64_t groups = scale_groups(in);
    std::vector<float> scales(static_cast<std::size_t>(out * groups));
    for (std::int64_t r = 0; r < out; ++r) {
      unpack_scales(int8.matrix(), r, scales.data() + r * groups);
    }
    pack_int8(integers.data(), scales.data(), same.target());
    EXPECT_EQ(same.data(), int8.data());
    EXPECT_EQ(same.scales(), int8.scales());
    EXPECT_EQ(same.sums(), int8.sums());
  }
}

TEST(Pack, IsTheSameOnEveryInstructionSet) {
  const std::int64_t out = 77, in = 51;
  const std::vector<float> matrix = random_floats(out * in, 4, 0.02f);
  for (const PackedForm form : kForms) {
    const OwnedMatrix expected(form, out, in, matrix);
    test::for_each_way([&](const std::string& way) {
      const OwnedMatrix packed(form, out, in, matrix);
      EXPECT_EQ(packed.data(), expected.data()) << way;
      EXPECT_EQ(packed.scales(), expected.scales()) << way;
    });
  }
}

TEST(Pack, ARowWithNanOrInfinityHasTheScaleNan) {
  const std::int64_t out = 3, in = 20;
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const std::size_t at : {0, 17, 19}) {
      std::vector<float> matrix = random_floats(out * in, 5);
      matrix[20 + at] = bad;
      const OwnedMatrix packed(PackedForm::int8, out, in, matrix);
      EXPECT_FALSE(std::isnan(packed.scales()[0]));
      EXPECT_TRUE(std::isnan(packed.scales()[1])) << bad << " at " << at;
      EXPECT_FALSE(std::isnan(packed.scales()[2]));
    }
  }
}

}  // namespace
}  // namespace heed::kernels
