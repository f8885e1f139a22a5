#include "heed/attention/positions/sine_code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "heed/tensor/create.h"

namespace heed {
namespace {

TEST(SineCode, TheFirstFeatureIsTheCodeAndOthersAreItsHarmonics) {
  const SineCode code({.max_length = 10}, {.embed = 3});
  const std::vector<double> y = code.embed(zeros({1, 10, 3}, DType::f64)).to_vector<double>();
  for (std::size_t l = 0; l < 10; ++l) {
    const double angle = std::numbers::pi * static_cast<double>(l) / 10.0;
    EXPECT_NEAR(y[3 * l], std::sin(angle), 1e-15);
    EXPECT_NEAR(y[3 * l + 1], std::sin(2.0 * angle), 1e-15);
    EXPECT_NEAR(y[3 * l + 2], std::sin(3.0 * angle), 1e-15);
  }
}

TEST(SineCode, AsManyFeaturesAsPositionsMakeThemOrthogonal) {
  const std::int64_t L = 8;
  for (std::int64_t a = 1; a < L; ++a) {
    for (std::int64_t b = 1; b < L; ++b) {
      double product = 0.0;
      for (std::int64_t f = 0; f < L - 1; ++f) product += sine_code(a, f, L) * sine_code(b, f, L);
      EXPECT_NEAR(product, a == b ? static_cast<double>(L) / 2.0 : 0.0, 1e-14);
    }
  }
}

}  // namespace
}  // namespace heed
