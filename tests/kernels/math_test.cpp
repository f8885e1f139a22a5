// The vector math functions against double precision: sweeps over all of float, and the limits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/math_test.cpp"
#include "heed/kernels/foreach_target.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "heed/kernels/math-inl.h"
#include "heed/kernels/reference/math.h"
#include "tests/support/isa_guard.h"

// vector function, its twin, the largest error allowed in units in the last place
#define HEED_MATH_FUNCTIONS(X) \
  X(Exp, exp, 1.2)             \
  X(Exp2, exp2, 1.2)           \
  X(Log, log, 1.1)             \
  X(Tanh, tanh, 3.0)           \
  X(Erf, erf, 1.5)             \
  X(Sigmoid, sigmoid, 3.0)     \
  X(Sin, sin, 0.51)            \
  X(Cos, cos, 0.51)

HWY_BEFORE_NAMESPACE();
namespace heed::kernels::HWY_NAMESPACE {
namespace {

#define HEED_X(name, twin, ulps)                                                 \
  void map_##twin(const float* x, float* y, std::size_t n) {                     \
    const hn::ScalableTag<float> d;                                              \
    std::size_t i = 0;                                                           \
    for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {                           \
      hn::StoreU(name(d, hn::LoadU(d, x + i)), d, y + i);                        \
    }                                                                            \
    if (i < n) StoreFirst(name(d, LoadFirst(d, x + i, n - i)), d, y + i, n - i); \
  }
HEED_MATH_FUNCTIONS(HEED_X)
#undef HEED_X

}  // namespace
}  // namespace heed::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

#define HEED_X(name, twin, ulps) HWY_EXPORT(map_##twin);
HEED_MATH_FUNCTIONS(HEED_X)
#undef HEED_X

namespace {

using Map = void (*)(const float*, float*, std::size_t);

struct Function {
  std::string_view name;
  Map (*in_force)();  // the version for the instruction set in force
  double (*twin)(double);
  double max_ulps;
};

const Function kFunctions[] = {
#define HEED_X(name, twin, ulps) \
  {#name, [] { return Map{HEED_DISPATCH(map_##twin)}; }, reference::twin, ulps},
    HEED_MATH_FUNCTIONS(HEED_X)
#undef HEED_X
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr double kSmallestNormal = 0x1p-126;

/// How far y is from the exact value, in units in the last place of a float of that size. A result
/// below the smallest normal float may be 0.
double ulps_off(float y, double exact) {
  if (std::isnan(exact)) return std::isnan(y) ? 0 : kInfinity;
  const auto rounded = static_cast<float>(exact);
  if (std::isinf(rounded) || std::isinf(y)) return y == rounded ? 0 : kInfinity;
  if (std::abs(exact) < kSmallestNormal && y == 0) return 0;
  if (exact == 0) return y == 0 ? 0 : kInfinity;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
  return std::abs(static_cast<double>(y) - exact) / unit;  // NaN for a NaN that should not be
}

std::vector<float> every_nth_float(std::uint32_t stride) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += stride) {
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return values;
}

std::vector<float> evenly_spaced(float low, float high, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = low + (high - low) * (static_cast<float>(i) / static_cast<float>(count - 1));
  }
  return values;
}

void expect_accurate(const Function& function, const std::vector<float>& x) {
  std::vector<double> exact(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) exact[i] = function.twin(x[i]);
  test::for_each_isa([&](Isa isa) {
    std::vector<float> y(x.size());
    function.in_force()(x.data(), y.data(), x.size());
    double worst = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double off = ulps_off(y[i], exact[i]);
      if (!(off <= worst)) worst = off, at = i;
      if (std::isnan(worst)) break;
    }
    EXPECT_LE(worst, function.max_ulps) << function.name << "(" << x[at] << ") is " << y[at]
                                        << " instead of " << exact[at] << " on " << name_of(isa);
  });
}

TEST(Math, IsAccurateOverAllFloats) {
  // A prime that is no multiple of a power of two visits all mantissas and exponents.
  const std::vector<float> x = every_nth_float(6007);
  for (const Function& function : kFunctions) expect_accurate(function, x);
}

TEST(Math, IsAccurateWhereItMatters) {
  for (const Function& function : kFunctions) {
    expect_accurate(function, evenly_spaced(-1.5f, 1.5f, 50001));
    expect_accurate(function, evenly_spaced(-12.0f, 12.0f, 50001));
    expect_accurate(function, evenly_spaced(-130.0f, 130.0f, 50001));
  }
}

TEST(Math, LargeAnglesAreReducedExactly) {
  for (const Function& function : kFunctions) {
    if (function.name != "Sin" && function.name != "Cos") continue;
    expect_accurate(function, evenly_spaced(0.0f, 0x1p20f, 100003));
    expect_accurate(function, evenly_spaced(0x1p20f, 0x1p30f, 1001));
  }
}

float value_of(std::string_view name, float x) {
  for (const Function& function : kFunctions) {
    if (function.name != name) continue;
    float y = 0;
    function.in_force()(&x, &y, 1);
    return y;
  }
  ADD_FAILURE() << "no function " << name;
  return kNaN;
}

TEST(Math, GoesToItsLimits) {
  test::for_each_isa([](Isa) {
    EXPECT_EQ(value_of("Exp", 0), 1);
    EXPECT_EQ(value_of("Exp", kInfinity), kInfinity);
    EXPECT_EQ(value_of("Exp", -kInfinity), 0);
    EXPECT_EQ(value_of("Exp", 88.73f), kInfinity);
    EXPECT_EQ(value_of("Exp", -1e30f), 0);
    EXPECT_EQ(value_of("Exp2", 0), 1);
    EXPECT_EQ(value_of("Exp2", 10), 1024);
    EXPECT_EQ(value_of("Exp2", -126), 0x1p-126f);
    EXPECT_EQ(value_of("Exp2", 128), kInfinity);
    EXPECT_EQ(value_of("Exp2", kInfinity), kInfinity);
    EXPECT_EQ(value_of("Exp2", -kInfinity), 0);
    EXPECT_EQ(value_of("Log", 1), 0);
    EXPECT_EQ(value_of("Log", 0), -kInfinity);
    EXPECT_EQ(value_of("Log", -0.0f), -kInfinity);
    EXPECT_EQ(value_of("Log", kInfinity), kInfinity);
    EXPECT_TRUE(std::isnan(value_of("Log", -1)));
    EXPECT_TRUE(std::isnan(value_of("Log", -kInfinity)));
    EXPECT_EQ(value_of("Sigmoid", 0), 0.5f);
    EXPECT_EQ(value_of("Sigmoid", kInfinity), 1);
    EXPECT_EQ(value_of("Sigmoid", -kInfinity), 0);
    EXPECT_EQ(value_of("Cos", 0), 1);
    EXPECT_TRUE(std::isnan(value_of("Sin", kInfinity)));
    EXPECT_TRUE(std::isnan(value_of("Cos", -kInfinity)));
  });
}

TEST(Math, OddFunctionsAreOdd) {
  test::for_each_isa([](Isa) {
    for (const std::string_view name : {"Tanh", "Erf"}) {
      EXPECT_EQ(value_of(name, kInfinity), 1);
      EXPECT_EQ(value_of(name, -kInfinity), -1);
      EXPECT_EQ(value_of(name, 20), 1);
    }
    for (const std::string_view name : {"Tanh", "Erf", "Sin"}) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(value_of(name, 0.0f)), 0u);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(value_of(name, -0.0f)), 0x80000000u);
      for (const float x : {1e-30f, 0.3f, 0.9f, 2.0f, 7.0f}) {
        EXPECT_EQ(value_of(name, -x), -value_of(name, x));
      }
    }
  });
}

TEST(Math, NaNGoesThroughWhateverItsBits) {
  test::for_each_isa([](Isa isa) {
    for (const Function& function : kFunctions) {
      for (const std::uint32_t bits : {0x7fc00000u, 0xffc00000u, 0x7fc00001u, 0x7fffffffu,
                                       0xffd12345u, 0x7f800001u, 0xffbfffffu}) {
        EXPECT_TRUE(std::isnan(value_of(function.name, std::bit_cast<float>(bits))))
            << function.name << " of " << std::hex << bits << " on " << name_of(isa);
      }
    }
  });
}

TEST(Math, BoundedFunctionsStayInBounds) {
  const std::vector<float> x = evenly_spaced(-30.0f, 30.0f, 40001);
  test::for_each_isa([&](Isa) {
    for (const Function& function : kFunctions) {
      const bool is_sigmoid = function.name == "Sigmoid";
      if (!is_sigmoid && function.name != "Tanh" && function.name != "Erf") continue;
      std::vector<float> y(x.size());
      function.in_force()(x.data(), y.data(), x.size());
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_GE(y[i], is_sigmoid ? 0 : -1) << function.name << "(" << x[i] << ")";
        EXPECT_LE(y[i], 1) << function.name << "(" << x[i] << ")";
      }
    }
  });
}

// The derivatives of the twins by central differences of the twins themselves.
TEST(MathReference, SlopesAreDerivatives) {
  const struct {
    double (*value)(double), (*slope)(double);
  } pairs[] = {{reference::gelu, reference::gelu_slope},
               {reference::gelu_tanh, reference::gelu_tanh_slope},
               {reference::silu, reference::silu_slope}};
  for (const auto& [value, slope] : pairs) {
    for (double x = -8; x <= 8; x += 0.37) {
      constexpr double kStep = 1e-5;
      EXPECT_NEAR(slope(x), (value(x + kStep) - value(x - kStep)) / (2 * kStep), 1e-9) << x;
    }
  }
}

// Values of the definitions with tanh, erfc and exp of another implementation (Python's).
TEST(MathReference, ActivationsHaveKnownValues) {
  EXPECT_NEAR(reference::gelu(1.0), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(reference::gelu(-2.0), -0.04550026389635844, 1e-15);
  EXPECT_NEAR(reference::gelu_tanh(1.0), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(reference::gelu_tanh(-2.0), -0.04540230591222494, 1e-15);
  EXPECT_NEAR(reference::silu(1.0), 0.7310585786300049, 1e-15);
  EXPECT_NEAR(reference::silu(-2.0), -0.2384058440442351, 1e-15);
}

}  // namespace
}  // namespace heed::kernels
#endif  // HWY_ONCE
