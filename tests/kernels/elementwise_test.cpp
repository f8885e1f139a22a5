#include "heed/kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/base/arena.h"
#include "heed/kernels/reference/elementwise.h"
#include "tests/support/isa_guard.h"

namespace heed::kernels {
namespace {

constexpr Unary kAll[] = {
#define HEED_X(name, functor, saves) Unary::name,
    HEED_UNARY_OPS(HEED_X)
#undef HEED_X
};

// Values where vector code goes wrong: ends of ranges, signs of zero, infinities, NaN.
std::vector<float> hard_values() {
  std::vector<float> x = {0.0f,    -0.0f, INFINITY, -INFINITY, NAN,    1e-30f,
                          -1e-30f, 1e30f, -1e30f,   88.0f,     -88.0f, 104.0f};
  for (float v = -30.0f; v < 30.0f; v += 0.37f) x.push_back(v);
  return x;
}

TEST(ElementwiseKernel, EqualsItsTwinAtHardValues) {
  const std::vector<float> x = hard_values();
  const auto nest = make_nest<2>({static_cast<std::int64_t>(x.size())}, {Strides{1}, {1}});
  test::for_each_isa([&](Isa isa) {
    for (const Unary op : kAll) {
      if (op == Unary::sin || op == Unary::cos)
        continue;  // huge arguments: math_test says how far they go
      std::vector<float> y(x.size());
      unary(op, nest, x.data(), y.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto expected = static_cast<float>(reference::unary(op, static_cast<double>(x[i])));
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(y[i]))
              << name_of(isa) << " op " << static_cast<int>(op) << " of " << x[i];
        } else if (std::isinf(expected) || std::abs(expected) < 1e-36f) {
          EXPECT_NEAR(std::min(std::abs(y[i]), 1e38f), std::min(std::abs(expected), 1e38f), 1e-30)
              << name_of(isa) << " op " << static_cast<int>(op) << " of " << x[i];
        } else {
          EXPECT_NEAR(y[i], expected, 1e-6 * std::max(1.0f, std::abs(expected)))
              << name_of(isa) << " op " << static_cast<int>(op) << " of " << x[i];
        }
      }
    }
  });
}

TEST(ElementwiseKernel, GeluIsAccurateIntoItsTail) {
  std::vector<float> x;
  for (float v = -14.0f; v < 14.0f; v += 1e-4f) x.push_back(v);
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<float> ones(x.size(), 1.0f);
  test::for_each_isa([&](Isa isa) {
    std::vector<float> y(x.size()), slope(x.size());
    unary(Unary::gelu, make_nest<2>({n}, {Strides{1}, {1}}), x.data(), y.data());
    unary_backward(Unary::gelu, make_nest<3>({n}, {Strides{1}, {1}, {1}}), x.data(), ones.data(),
                   slope.data());
    // Without fused multiply-add, the rounding of x^2 stays in the exponent.
    const double tail_bound = isa == Isa::sse4 ? 8e-6 : 2e-6;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = reference::gelu(x[i]);
      ASSERT_NEAR(y[i], exact, 3e-7 * std::max(1.0, std::abs(exact)))
          << name_of(isa) << " at " << x[i];
      if (exact < -1e-30) {
        ASSERT_NEAR(y[i], exact, tail_bound * -exact) << name_of(isa) << " at " << x[i];
      }
      ASSERT_NEAR(slope[i], reference::gelu_slope(x[i]), 1e-6) << name_of(isa) << " at " << x[i];
    }
  });
}

TEST(ElementwiseKernel, EveryMixOfStrides) {
  const std::int64_t n = 1300;  // more than two staging blocks
  std::vector<float> a(static_cast<std::size_t>(3 * n)), b = a;
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 97);
    b[i] = static_cast<float>(i % 89) - 40.0f;
  }
  test::for_each_isa([&](Isa isa) {
    for (const std::int64_t sa : {0, 1, 3}) {
      for (const std::int64_t sb : {0, 1, 2}) {
        for (const std::int64_t sy : {1, 2}) {
          std::vector<float> y(static_cast<std::size_t>(sy * n), -7.0f);
          binary(Binary::sub, make_nest<3>({n}, {Strides{sa}, {sb}, {sy}}), a.data(), b.data(),
                 y.data());
          for (std::int64_t i = 0; i < n; ++i) {
            ASSERT_EQ(y[static_cast<std::size_t>(i * sy)],
                      a[static_cast<std::size_t>(i * sa)] - b[static_cast<std::size_t>(i * sb)])
                << name_of(isa) << " " << sa << " " << sb << " " << sy << " at " << i;
            if (sy == 2) {  // gaps stay untouched
              ASSERT_EQ(y[static_cast<std::size_t>(i * sy + 1)], -7.0f);
            }
          }
        }
      }
    }
  });
}

TEST(ElementwiseKernel, ResultsBeyondTheCachesAreTheSame) {
  // Large enough to be written past the caches, with a ragged end.
  const std::int64_t n = (std::int64_t{13} << 20) + 5;
  const Scratch<float> x(n), y(n);
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 1001) - 500.0f;
  test::for_each_isa([&](Isa isa) {
    std::fill_n(y.data(), n, 0.5f);
    unary(Unary::relu, make_nest<2>({n}, {Strides{1}, {1}}), x.data(), y.data());
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) wrong += y[i] != std::max(x[i], 0.0f) ? 1 : 0;
    EXPECT_EQ(wrong, 0) << name_of(isa);
  });
}

}  // namespace
}  // namespace heed::kernels
