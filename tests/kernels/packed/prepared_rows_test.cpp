// Rows of x as products read them: what each form makes of them, and rows from the middle.
#include "heed/kernels/packed/prepared_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/values.h"

namespace heed::kernels {
namespace {

using heed::test::random_floats;
using test::OwnedMatrix;

TEST(PreparedRows, OfF32AreReadWhereTheyAre) {
  const OwnedMatrix matrix(PackedForm::f32, 1, 5);
  const std::vector<float> x = random_floats(3 * 8, 1);
  const PreparedRows rows(matrix.matrix(), {.rows = 3, .columns = 5, .x = x.data(), .stride = 8},
                          dot_products());
  EXPECT_EQ(rows.from(2).floats, x.data() + 2 * 8);
  EXPECT_EQ(rows.from(2).stride, 8);
}

TEST(PreparedRows, OfBf16AreRoundedAndFilledUpToPairs) {
  for (const std::int64_t in : {1, 2, 5, 64}) {
    for (const std::int64_t stride : {in, in + 3}) {
      const OwnedMatrix matrix(PackedForm::bf16, 1, in);
      const std::vector<float> x = random_floats(4 * stride, 2);
      test::for_each_way([&](const std::string& way) {
        SCOPED_TRACE(fmt::format("{} columns, {} apart, {}", in, stride, way));
        const PreparedRows rows(matrix.matrix(),
                                {.rows = 4, .columns = in, .x = x.data(), .stride = stride},
                                dot_products());
        const RowsOfX from = rows.from(1);
        ASSERT_EQ(from.stride, (in + 1) / 2 * 2);
        EXPECT_EQ(from.floats == nullptr, has_bf16_dot());
        EXPECT_EQ(from.halves != nullptr, has_bf16_dot());
        for (std::int64_t row = 1; row < 4; ++row) {
          for (std::int64_t i = 0; i < from.stride; ++i) {
            const std::int64_t at = (row - 1) * from.stride + i;
            const float number =
                from.halves != nullptr ? static_cast<float>(from.halves[at]) : from.floats[at];
            const float exact = i < in ? x[static_cast<std::size_t>(row * stride + i)] : 0.0f;
            ASSERT_EQ(number, static_cast<float>(BFloat16(exact))) << row << ", " << i;
          }
        }
      });
    }
  }
}

TEST(PreparedRows, FromTheMiddleAreThoseOfTheRest) {
  const std::int64_t in = 150;
  const std::vector<float> x = random_floats(3 * in, 3);
  const FloatRows all{.rows = 3, .columns = in, .x = x.data(), .stride = in};
  const FloatRows last{.rows = 1, .columns = in, .x = x.data() + 2 * in, .stride = in};
  for (const PackedForm form : {PackedForm::int8, PackedForm::int4}) {
    const OwnedMatrix matrix(form, 1, in);
    test::for_each_way([&](const std::string& way) {
      SCOPED_TRACE(fmt::format("{} {}", name_of(form), way));
      const PreparedRows rows(matrix.matrix(), all, dot_products());
      const PreparedRows one(matrix.matrix(), last, dot_products());
      const QuantizedRows from = rows.from(2).integers, expected = one.from(0).integers;
      EXPECT_EQ(from.stride, expected.stride);
      for (std::int64_t i = 0; i < from.stride; ++i) {
        ASSERT_EQ(from.integers[i], expected.integers[i]) << i;
      }
      EXPECT_EQ(from.has_common_offset, form == PackedForm::int8 && has_vnni());
      EXPECT_EQ(from.offsets != nullptr, form == PackedForm::int8 && !has_vnni());
      for (std::int64_t g = 0; g < scale_groups(in); ++g) {
        EXPECT_EQ(from.scales[g * from.across], expected.scales[g]);
        if (from.offsets != nullptr) {
          EXPECT_EQ(from.offsets[g * from.across], expected.offsets[g]);
        }
      }
      for (std::int64_t b = 0; form == PackedForm::int4 && b < block_count(in); ++b) {
        EXPECT_EQ(from.sums[b * from.across], expected.sums[b]);
      }
    });
  }
}

}  // namespace
}  // namespace heed::kernels
