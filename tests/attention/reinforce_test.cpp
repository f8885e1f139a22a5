#include "heed/attention/reinforce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/variants/hard.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

// Two queries read one of four states each; the sum should be near a target, so the reward depends
// on both. All sequences of the batch are the same, so their gradients are independent samples.
class ReinforceEstimate : public testing::Test {
 protected:
  static constexpr std::int64_t kDraws = 40000, kQueries = 2, kStates = 4, kFeatures = 3;

  static Tensor drawn(const Shape& shape, std::uint64_t seed) {
    Generator generator(seed);
    return normal(shape, 0.0, 1.0, generator, DType::f64);
  }
  static Tensor repeated(const Tensor& x) {
    Shape shape = x.shape();
    shape[0] = kDraws;
    return contiguous_copy(view::expand(x, shape));
  }
  Tensor loss_of(const Tensor& read) const {  // [B, E] -> [B]
    return sum(square(read - target_), {-1}) + 3.0;
  }

  // The gradient of the expected loss over all possible samples: of queries, then of states.
  std::vector<double> exact() const {
    Tensor x = clone_data(x_).requires_grad(), h = clone_data(h_).requires_grad();
    const Tensor p = softmax(matmul(x, transpose(h)));  // [1, 2, 4]
    const auto state = [&](std::int64_t j) { return select(h, 1, j); };
    const auto chance = [&](std::int64_t i, std::int64_t j) {
      return select(select(p, 1, i), 1, j);
    };
    Tensor expected = zeros({1}, DType::f64);
    for (std::int64_t a = 0; a < kStates; ++a) {
      for (std::int64_t b = 0; b < kStates; ++b) {
        expected = expected + chance(0, a) * chance(1, b) * loss_of(state(a) + state(b));
      }
    }
    sum(expected).backward();
    std::vector<double> gradient = x.grad().to_vector<double>();
    for (const double d : h.grad().to_vector<double>()) gradient.push_back(d);
    return gradient;
  }

  struct Sample {
    std::vector<double> mean, error;  // of each element, and its standard error
    double variance = 0.0;            // of one sample, summed over elements
  };
  Sample sample(Reinforce& reinforce, std::uint64_t stream) const {
    Tensor x = repeated(x_).requires_grad(), h = repeated(h_).requires_grad();
    const HardDraw draw = layer_.draw({.x = x, .memory = h}, {31, stream});
    const Tensor loss = loss_of(sum(draw.output, {1}));  // [B]
    (mean(loss) + reinforce.loss(draw.log_prob, -loss, draw.entropy)).backward();
    Sample result;
    for (const Tensor& gradient : {x.grad(), h.grad()}) {
      const Tensor each = reshape(gradient, {kDraws, -1}) * static_cast<double>(kDraws);
      const std::vector<double> m = mean(each, {0}).to_vector<double>();
      const std::vector<double> v = variance(each, {0}).to_vector<double>();
      for (std::size_t i = 0; i < m.size(); ++i) {
        result.mean.push_back(m[i]);
        result.error.push_back(std::sqrt(v[i] / kDraws));
        result.variance += v[i];
      }
    }
    return result;
  }

  static void expect_unbiased(const Sample& sample, const std::vector<double>& exact) {
    double distance = 0.0, size = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(sample.mean[i], exact[i], 4.5 * sample.error[i]) << i;
      distance += (sample.mean[i] - exact[i]) * (sample.mean[i] - exact[i]);
      size += exact[i] * exact[i];
    }
    EXPECT_LT(std::sqrt(distance / size), 0.03);  // that the errors are small, too
  }

  Tensor x_ = drawn({1, kQueries, kFeatures}, 1), h_ = drawn({1, kStates, kFeatures}, 2);
  Tensor target_ = drawn({kFeatures}, 3);
  HardAttentionLayer layer_{{.global = {.embed = kFeatures, .score = AlignScore::dot}}};
};

TEST_F(ReinforceEstimate, IsRightInTheMeanAndTheBaselineMakesItsVarianceSmaller) {
  const std::vector<double> gradient = exact();
  Reinforce without, with;
  const Sample plain = sample(without, 0);
  expect_unbiased(plain, gradient);
  sample(with, 1);  // the baseline learns the mean reward
  const Sample better = sample(with, 2);
  expect_unbiased(better, gradient);
  const double ratio = better.variance / plain.variance;
  fmt::print("variance of a draw: {:.3g} without baseline, {:.3g} with it, ratio {:.3f}\n",
             plain.variance, better.variance, ratio);
  EXPECT_LT(ratio, 0.5);
}

// With the same samples, only the gradient of the entropy differs, which needs no samples.
TEST_F(ReinforceEstimate, TheEntropyTermHasTheExactGradient) {
  Reinforce without, with({.entropy = 0.7});
  const Sample plain = sample(without, 5), more = sample(with, 5);
  Tensor x = clone_data(x_).requires_grad(), h = clone_data(h_).requires_grad();
  const Tensor p = softmax(matmul(x, transpose(h)));
  (sum(p * log(p)) * 0.7).backward();
  std::vector<double> expected = x.grad().to_vector<double>();
  for (const double d : h.grad().to_vector<double>()) expected.push_back(d);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(more.mean[i] - plain.mean[i], expected[i], 1e-9);
  }
}

TEST(Reinforce, TheBaselineIsAMovingAverage) {
  Reinforce reinforce({.decay = 0.75});
  const Tensor log_prob = full({2, 3}, -1.0);
  const auto reward = [](double a, double b) {
    return from_values<float>({static_cast<float>(a), static_cast<float>(b)}, {2});
  };
  EXPECT_EQ(reinforce.baseline(), 0.0);
  EXPECT_NEAR(reinforce.loss(log_prob, reward(3, 5)).item(), 12.0, 1e-6);  // mean of 3 * 3, 5 * 3
  EXPECT_EQ(reinforce.baseline(), 4.0);
  EXPECT_NEAR(reinforce.loss(log_prob, reward(8, 8)).item(), 12.0, 1e-6);  // 8 - 4 each
  EXPECT_EQ(reinforce.baseline(), 5.0);
  Reinforce resumed({.decay = 0.75});
  resumed.restore(reinforce.baseline(), reinforce.updates());
  resumed.loss(log_prob, reward(9, 9));
  EXPECT_EQ(resumed.baseline(), 6.0);
}

TEST(Reinforce, ARewardOfEachPositionCountsThere) {
  Reinforce reinforce({.weight = 2.0});
  Tensor log_prob = zeros({1, 2}).requires_grad();
  reinforce.loss(log_prob, from_values<float>({3, -1}, {1, 2})).backward();
  EXPECT_EQ(log_prob.grad().to_vector<float>(), (std::vector<float>{-6, 2}));
  EXPECT_EQ(reinforce.loss(zeros({0, 2}), zeros({0})).item(), 0.0);
  EXPECT_EQ(reinforce.baseline(), 1.0);
}

TEST(Reinforce, WrongUseSaysWhatIsWrong) {
  Reinforce reinforce({.entropy = 0.1});
  EXPECT_EQ(error_message([&] {
              reinforce.loss(ones({2, 3}), ones({3}));
            }),
            "[reinforce] reward is [3]: for log_prob [2, 3] it must be [2], one for each sequence, "
            "or of the same shape");
  EXPECT_EQ(error_message([&] {
              reinforce.loss(ones({2, 3}), ones({2}));
            }),
            "[reinforce] entropies are undefined: they have a weight of 0.1, so they must be as "
            "log_prob [2, 3]");
  EXPECT_EQ(error_message([&] {
              reinforce.loss(ones({2, 3}), full({2}, INFINITY), ones({2, 3}));
            }),
            "[reinforce] the mean reward is inf: rewards must be finite");
  EXPECT_EQ(error_message([&] { reinforce.loss(ones({}), ones({})); }),
            "[reinforce] log_prob is []: it must be [B, ...]");
}

}  // namespace
}  // namespace heed
