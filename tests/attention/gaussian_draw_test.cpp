// Draws from a Gaussian: densities by hand, moments, and the gradient of REINFORCE, which is that
// of the expected reward.
#include "heed/attention/gaussian_draw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "heed/attention/reinforce.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed::gaussian_draw_test {
namespace {

TEST(GaussianDraw, HasTheDensityOfItsValue) {
  Generator generator(3);
  const Tensor mean = from_values<double>({0.5, -1.0, 2.0, 0.0}, {2, 2});
  const double d = 0.3;
  const GaussianDraw draw = draw_gaussian(mean, d, generator);
  const auto value = draw.value.to_vector<double>(), m = mean.to_vector<double>();
  for (std::size_t b = 0; b < 2; ++b) {
    double expected = 0.0;
    for (std::size_t i = 2 * b; i < 2 * b + 2; ++i) {
      const double z = (value[i] - m[i]) / d;
      expected += -0.5 * z * z - std::log(d * std::sqrt(2.0 * std::numbers::pi));
    }
    EXPECT_NEAR(draw.log_prob.to_vector<double>()[b], expected, 1e-12);
    EXPECT_NEAR(draw.entropy.to_vector<double>()[b],
                std::log(2.0 * std::numbers::pi * std::numbers::e * d * d), 1e-12);
  }
  EXPECT_FALSE(draw.value.tracks_grad());
}

TEST(GaussianDraw, IsAFunctionOfTheGenerator) {
  Generator one(5), same(5), other(6);
  const Tensor mean = zeros({3, 2});
  const auto values = draw_gaussian(mean, 1.0, one).value.to_vector<float>();
  EXPECT_EQ(draw_gaussian(mean, 1.0, same).value.to_vector<float>(), values);
  EXPECT_NE(draw_gaussian(mean, 1.0, same).value.to_vector<float>(), values) << "the next stream";
  EXPECT_NE(draw_gaussian(mean, 1.0, other).value.to_vector<float>(), values);
}

// The reward of a location l is c l_1 - |l - t|^2, whose expectation over N(m, d^2) is
// c m_1 - |m - t|^2 - 2 d^2: its gradient is (c, 0) - 2 (m - t). Every row of the batch is a
// sample.
TEST(GaussianDraw, ReinforceHasTheGradientOfTheExpectedReward) {
  constexpr std::int64_t kRows = 40000;
  constexpr double kDeviation = 0.4, kC = 0.7;
  const std::vector<double> m = {0.3, -0.2}, t = {-0.5, 0.4};
  const std::vector<double> exact = {kC - 2.0 * (m[0] - t[0]), -2.0 * (m[1] - t[1])};
  Tensor mean = contiguous_copy(view::expand(from_values<double>({m[0], m[1]}, {1, 2}), {kRows, 2}))
                    .requires_grad();
  const Tensor target = from_values<double>({t[0], t[1]}, {2});
  const Tensor slope = from_values<double>({kC, 0.0}, {2});
  Generator generator(11);
  const GaussianDraw draw = draw_gaussian(mean, kDeviation, generator);
  const Tensor reward =
      sum(draw.value * slope, {1}) - sum(square(draw.value - target), {1});  // [B]
  Tensor learned = full({kRows}, sum(reward).item() / kRows, DType::f64).requires_grad();
  Reinforce reinforce;
  reinforce.loss(draw.log_prob, reward, {}, learned).backward();
  const Tensor each = mean.grad() * static_cast<double>(-kRows);  // the loss is the negative reward
  const auto estimate = heed::mean(each, {0}).to_vector<double>();
  const auto spread = variance(each, {0}).to_vector<double>();
  for (std::size_t i = 0; i < 2; ++i) {
    const double error = std::sqrt(spread[i] / kRows);
    EXPECT_NEAR(estimate[i], exact[i], 4.5 * error);
    EXPECT_LT(error, 0.05 * std::abs(exact[i])) << "the sample is large enough to tell";
  }
}

TEST(GaussianDraw, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              draw_gaussian(zeros({2, 2}), 0.0);
            }),
            "[gaussian] deviation 0: it must be above 0");
  EXPECT_EQ(error_message([] { draw_gaussian(zeros({2}), 1.0); }),
            "[gaussian] the means are [2]: they must be [B, N]");
}

}  // namespace
}  // namespace heed::gaussian_draw_test
