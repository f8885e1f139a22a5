#include "heed/attention/stages/dual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace heed {
namespace {

// f in both kinds of number: the value, and the slope against central differences.
template <typename F>
void check(const F& f, std::vector<double> at, const char* name) {
  for (const double x : at) {
    const Dual<double> y = f(Dual<double>(x, 1.0));
    EXPECT_DOUBLE_EQ(y.value, f(x)) << name << " at " << x;
    const double step = 1e-6;
    EXPECT_NEAR(y.slope, (f(x + step) - f(x - step)) / (2 * step), 1e-6) << name << " at " << x;
    const Dual<double> scaled = f(Dual<double>(x, -3.0));
    EXPECT_NEAR(scaled.slope, -3.0 * y.slope, 1e-12) << name << ": the chain rule at " << x;
  }
}

TEST(Dual, Arithmetic) {
  const std::vector<double> at{-2.5, -0.3, 0.7, 4.0};
  check([](auto x) { return -x + (+x) * x - x / (x * x + 1.0); }, at, "duals");
  check([](auto x) { return x + 2 - (3 + x) * 0.5; }, at, "sums with constants");
  check([](auto x) { return 2 - x * 3 + 4.0 * x - x / 5; }, at, "products with constants");
  check([](auto x) { return 3 / x - 1.5 / (x * x); }, at, "constants by duals");
  check(
      [](auto x) {
        auto y = x;
        y += x;
        y *= 3;
        y -= 1.0;
        y /= x;
        return y;
      },
      at, "assignments");
}

TEST(Dual, Functions) {
  using std::abs, std::cos, std::exp, std::log, std::max, std::min, std::pow, std::sin, std::sqrt,
      std::tanh;
  const std::vector<double> any{-1.5, -0.4, 0.3, 2.0}, positive{0.2, 1.0, 3.7};
  check([](auto x) { return exp(x * 0.5); }, any, "exp");
  check([](auto x) { return log(x); }, positive, "log");
  check([](auto x) { return tanh(x); }, any, "tanh");
  check([](auto x) { return sqrt(x); }, positive, "sqrt");
  check([](auto x) { return sin(x) * cos(x * 2); }, any, "sin, cos");
  check([](auto x) { return abs(x); }, any, "abs");
  check([](auto x) { return pow(x, 3); }, any, "pow by a constant");
  check([](auto x) { return pow(x, x); }, positive, "pow");
  check([](auto x) { return max(x, x * x); }, any, "max");
  check([](auto x) { return min(x, x * x); }, any, "min");
  check([](auto x) { return max(x, 0.1) + max(0.2, x) - min(x, 0.5) * min(0.7, x); }, any,
        "max, min with constants");
}

TEST(Dual, ComparisonsAreOfValues) {
  const Dual<float> a(1.0f, 5.0f), b(2.0f, -5.0f);
  EXPECT_TRUE(a < b && b > a && a <= b && b >= a && a != b);
  EXPECT_TRUE(a == Dual<float>(1.0f, 9.0f));
  EXPECT_TRUE(a == 1.0f && a < 2 && 0 < a && b >= 2.0);
  const auto clipped = [](auto x) { return x < 0 ? x * 0 : x; };
  EXPECT_EQ(clipped(Dual<float>(-1.0f, 1.0f)).slope, 0.0f);
  EXPECT_EQ(clipped(Dual<float>(3.0f, 1.0f)).slope, 1.0f);
}

TEST(Dual, AConstantFactorKeepsInfiniteValuesFiniteInSlope) {
  const Dual<float> x(INFINITY, 1.0f);
  EXPECT_EQ((x * 2.0f).slope, 2.0f);
  EXPECT_EQ((x + 1.0f).slope, 1.0f);
  EXPECT_EQ((x / 4.0f).slope, 0.25f);
}

}  // namespace
}  // namespace heed
