// Attention of bf16 tensors with products in bf16, against the same numbers in f64.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/base/threads.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::bf16_pairs_test {
namespace {

using kernels::has_bf16_dot;
using test::same_bits;

class Bf16Pairs : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_bf16_dot()) GTEST_SKIP() << "this instruction set has no dot products of bf16";
  }
};

struct Sizes {
  std::int64_t B, H, G, Tq, Tk, D, Dv;
};

struct Bf16Operands {
  Tensor q, k, v;
};

Bf16Operands draw(const Sizes& s, double scale = 1.0) {
  Generator generator(7);
  const auto numbers = [&](const Shape& shape, double std) {
    return cast_data(normal(shape, 0.0, std, generator), DType::bf16);
  };
  return {numbers({s.B, s.H, s.Tq, s.D}, scale), numbers({s.B, s.G, s.Tk, s.D}, 1.0),
          numbers({s.B, s.G, s.Tk, s.Dv}, 1.0)};
}

// The largest difference from attention in f64. The output is rounded to bf16: 2^-9 of its size.
double error_of(const Bf16Operands& x, const AttentionSpec& spec) {
  const NoGrad no_grad;
  const auto wide = [](const Tensor& t) { return cast_data(t, DType::f64); };
  const Tensor expected = attention(wide(x.q), wide(x.k), wide(x.v), spec);
  const Tensor found = wide(attention(x.q, x.k, x.v, spec));
  double error = 0.0;
  const auto a = expected.values<double>(), b = found.values<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) return std::numeric_limits<double>::infinity();
    if (!std::isnan(a[i])) error = std::max(error, std::abs(a[i] - b[i]) / (1.0 + std::abs(a[i])));
  }
  return error;
}

constexpr double kTolerance = 0.008;  // 2^-8 for the weights, 2^-9 for the output

TEST_F(Bf16Pairs, AgreeWithDoubleAtOddSizes) {
  for (const Sizes& s : {Sizes{1, 1, 1, 64, 64, 64, 64}, Sizes{2, 4, 2, 65, 131, 32, 48},
                         Sizes{1, 2, 1, 33, 1, 16, 16}, Sizes{1, 3, 3, 100, 77, 2, 3},
                         Sizes{1, 1, 1, 200, 515, 128, 128}, Sizes{1, 1, 1, 64, 96, 6, 1}}) {
    EXPECT_LT(error_of(draw(s), {}), kTolerance) << s.Tq << " x " << s.Tk << ", d " << s.D;
  }
}

TEST_F(Bf16Pairs, AgreeWithDoubleUnderMasks) {
  const Sizes s{2, 2, 1, 150, 150, 64, 32};
  for (const Mask& mask : {causal(), window(20, 3), window(33, 0), key_lengths({149, 17}),
                           causal() & key_lengths({75, 150})}) {
    AttentionSpec spec;
    spec.mask = mask;
    EXPECT_LT(error_of(draw(s), spec), kTolerance);
  }
}

TEST_F(Bf16Pairs, AreUsedAndGiveOtherRoundings) {
  const NoGrad no_grad;
  const Bf16Operands x = draw({1, 2, 2, 128, 256, 64, 64});
  const Tensor fast = attention(x.q, x.k, x.v, {});
  kernels::set_bf16_dot(false);
  const Tensor plain = attention(x.q, x.k, x.v, {});
  kernels::set_bf16_dot(true);
  EXPECT_FALSE(same_bits(fast, plain));
}

TEST_F(Bf16Pairs, HaveTheSameBitsForAnyNumberOfThreads) {
  const NoGrad no_grad;
  const Bf16Operands x = draw({2, 3, 1, 130, 200, 64, 64});
  AttentionSpec spec;
  spec.mask = causal();
  const int before = num_threads();
  const auto run = [&](int threads) {
    set_num_threads(threads);
    return attention(x.q, x.k, x.v, spec);
  };
  EXPECT_TRUE(same_bits(run(1), run(3)));
  set_num_threads(before);
}

TEST_F(Bf16Pairs, TakeScoresOfAnySize) {
  EXPECT_LT(error_of(draw({1, 1, 1, 96, 300, 64, 64}, 100.0), {}), 0.02);
  // Scores beyond 2^21, where a row's maximum is subtracted first.
  const NoGrad no_grad;
  const Bf16Operands x = draw({1, 1, 1, 64, 128, 64, 64}, 1e7);
  for (const double y : cast_data(attention(x.q, x.k, x.v, {}), DType::f64).values<double>()) {
    EXPECT_TRUE(std::isfinite(y));
  }
}

TEST_F(Bf16Pairs, HideValuesThatAreNotFinite) {
  const NoGrad no_grad;
  const Sizes s{1, 1, 1, 64, 80, 32, 32};
  const Bf16Operands x = draw(s);
  AttentionSpec spec;
  spec.mask = key_lengths({70});
  const Tensor clean = attention(x.q, x.k, x.v, spec);
  Tensor v = cast_data(x.v, DType::f32);
  std::fill_n(v.mutable_data<float>() + 75 * s.Dv, s.Dv, std::numeric_limits<float>::quiet_NaN());
  const Tensor found = attention(x.q, x.k, cast_data(v, DType::bf16), spec);
  for (const double y : cast_data(found, DType::f64).values<double>())
    EXPECT_TRUE(std::isfinite(y));
  EXPECT_LT(error_of({x.q, x.k, x.v}, spec), kTolerance);
  ASSERT_EQ(found.shape(), clean.shape());
}

}  // namespace
}  // namespace heed::bf16_pairs_test
