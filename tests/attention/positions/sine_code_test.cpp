#include "heed/attention/positions/sine_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "heed/tensor/create.h"

namespace heed {
namespace {

TEST(SineCode, SinesComeFirstThenCosines) {
  const SineCode code({.max_length = 10}, {.embed = 5});
  const std::vector<double> y = code.embed(zeros({1, 10, 5}, DType::f64)).to_vector<double>();
  for (std::size_t l = 0; l < 10; ++l) {
    const double angle = std::numbers::pi * static_cast<double>(l) / 10.0;
    EXPECT_NEAR(y[5 * l], std::sin(angle), 1e-15);
    EXPECT_NEAR(y[5 * l + 1], std::sin(2.0 * angle), 1e-15);
    EXPECT_NEAR(y[5 * l + 2], std::sin(3.0 * angle), 1e-15);
    EXPECT_NEAR(y[5 * l + 3], std::cos(angle), 1e-15);
    EXPECT_NEAR(y[5 * l + 4], std::cos(2.0 * angle), 1e-15);
  }
}

TEST(SineCode, OneFeatureIsTheFirstSine) {
  const auto value = sine_code(1, 6);
  for (std::int64_t l = -6; l <= 6; ++l) {
    EXPECT_NEAR(value(l, 0), std::sin(std::numbers::pi * static_cast<double>(l) / 6.0), 1e-15);
  }
}

// sum_{k=1..K} cos(k x) = (sin((K + 1/2) x) / sin(x / 2) - 1) / 2, Dirichlet's kernel.
TEST(SineCode, TheProductOfTwoCodesDependsOnTheirDistanceAlone) {
  const std::int64_t L = 8, K = 5;
  const auto value = sine_code(2 * K, L);
  for (std::int64_t a = -L; a < L; ++a) {
    for (std::int64_t b = -L; b < L; ++b) {
      double product = 0.0;
      for (std::int64_t f = 0; f < 2 * K; ++f) product += value(a, f) * value(b, f);
      const double x = std::numbers::pi * static_cast<double>(a - b) / static_cast<double>(L);
      const double kernel = (std::sin((K + 0.5) * x) / std::sin(x / 2.0) - 1.0) / 2.0;
      EXPECT_NEAR(product, a == b ? static_cast<double>(K) : kernel, 1e-13) << a << ", " << b;
    }
  }
}

}  // namespace
}  // namespace heed
