// What rounding to int8 leaves: with it, products are those of 16 bits.
#include "heed/kernels/packed/remainder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/packed/packed_trial.h"
#include "tests/support/values.h"

namespace heed::kernels::remainder_test {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

double exact_product(const float* x, const float* row, std::int64_t n) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * row[i];
  return sum;
}

TEST(Remainder, MakesProductsExactTo16Bits) {
  for (const std::int64_t in : {1, 7, 17, 63, 64, 65, 130, 512}) {
    for (const std::int64_t out : {1, 17, 40}) {
      SCOPED_TRACE(fmt::format("{} x {}", out, in));
      const std::vector<float> matrix = heed::test::random_floats(out * in, 1);
      const std::vector<float> x = heed::test::random_floats(in, 2);
      const test::OwnedMatrix packed(PackedForm::int8, out, in, matrix);
      std::vector<std::int8_t> remainders(matrix.size());
      find_remainders(matrix.data(), in, packed.matrix(), remainders.data());
      for (std::int64_t row = 0; row < out; ++row) {
        const float* const numbers = matrix.data() + row * in;
        double bound = 0.0;  // half a step of each number
        for (std::int64_t i = 0; i < in; ++i) {
          float scale = 0.0f;
          for (std::int64_t j = i / kScaleColumns * kScaleColumns;
               j < std::min(in, (i / kScaleColumns + 1) * kScaleColumns); ++j) {
            scale = std::max(scale, std::abs(numbers[j]) / 127.0f);
          }
          bound += 0.501 * scale / kRemainderSteps * std::abs(x[index(i)]);
        }
        const double exact = exact_product(x.data(), numbers, in);
        EXPECT_NEAR(refined_product(x.data(), packed.matrix(), remainders.data(), row), exact,
                    bound + 1e-5);
      }
    }
  }
}

TEST(Remainder, OfZerosIsZero) {
  const std::vector<float> matrix(80, 0.0f), x(80, 1.0f);
  const test::OwnedMatrix packed(PackedForm::int8, 1, 80, matrix);
  std::vector<std::int8_t> remainders(80, 5);
  find_remainders(matrix.data(), 80, packed.matrix(), remainders.data());
  EXPECT_EQ(remainders, std::vector<std::int8_t>(80, 0));
  EXPECT_EQ(refined_product(x.data(), packed.matrix(), remainders.data(), 0), 0.0f);
}

TEST(Remainder, RowsOfNaNStayNaN) {
  std::vector<float> matrix(20, 1.0f);
  const std::vector<float> x(10, 1.0f);
  matrix[3] = std::nanf("");
  const test::OwnedMatrix packed(PackedForm::int8, 2, 10, matrix);
  std::vector<std::int8_t> remainders(20);
  find_remainders(matrix.data(), 10, packed.matrix(), remainders.data());
  EXPECT_TRUE(std::isnan(refined_product(x.data(), packed.matrix(), remainders.data(), 0)));
  EXPECT_NEAR(refined_product(x.data(), packed.matrix(), remainders.data(), 1), 10.0f, 1e-4);
}

}  // namespace
}  // namespace heed::kernels::remainder_test
