#include "heed/attention/variants/gumbel.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/kernels/attention/stages/gumbel.h"
#include "heed/kernels/attention/stages/query_random.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/order.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::gumbel_test {
namespace {

constexpr std::int64_t B = 2, Tq = 5, Tk = 6, E = 4;
constexpr std::uint64_t kSeed = 12;

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator, DType::f64);
}

Tensor noise() {
  const RandomStream random = Generator(kSeed).next();
  Tensor g = empty({B, Tq, Tk}, DType::f64);
  for (std::int64_t n = 0; n < g.numel(); ++n) {
    const RandomStream head = kernels::random_of_head(random, n / (Tq * Tk), 0);
    g.mutable_data<double>()[n] = kernels::gumbel_noise(head, n / Tk % Tq, n % Tk);
  }
  return g;
}

// Weights that are one-hot, with the gradient of those of softmax.
Tensor straight_through(const Tensor& scores, double temperature) {
  const Tensor soft = softmax(scores / temperature);
  const Tensor best = argmax(scores.detach(), -1, {.keep_axes = true});
  const Tensor hard = cast_data(equal(arange(Tk), best), DType::f64);
  return hard + (soft - soft.detach());
}

class Gumbel : public testing::Test {
 protected:
  Tensor scores() const {
    const Tensor pairs = unsqueeze((*layer_.query)(x_), 2) + unsqueeze((*layer_.key)(h_), 1);
    return sum(tanh(pairs) * layer_.v, {-1});  // [B, Tq, Tk]
  }
  std::vector<Tensor> leaves() const {
    std::vector<Tensor> all;
    all.push_back(x_);
    all.push_back(h_);
    for (const Tensor& parameter : layer_.parameters()) all.push_back(parameter);
    return all;
  }
  // Value and gradients, which are forgotten afterwards.
  std::vector<Tensor> everything(const Tensor& y) const {
    backward(y, drawn(y.shape(), 9));
    std::vector<Tensor> all;
    all.push_back(y.detach());
    for (Tensor& leaf : leaves()) {
      all.push_back(leaf.grad());
      leaf.set_grad({});
    }
    return all;
  }
  void expect_equal(const Tensor& y, const Tensor& expected) const {
    const std::vector<Tensor> a = everything(y), b = everything(expected);
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_LE(test::max_relative_error(a[i], b[i]), 1e-12) << i;
      EXPECT_GT(sum(abs(b[i])).item(), 1e-3) << i;
    }
  }
  void SetUp() override {
    layer_.to(DType::f64);
    default_generator() = Generator(kSeed);
  }

  Tensor x_ = drawn({B, Tq, E}, 1).requires_grad(), h_ = drawn({B, Tk, E}, 2).requires_grad();
  GumbelAttention layer_{
      {.global = {.embed = E, .score = AlignScore::additive}, .temperature = 0.6}};
};

TEST_F(Gumbel, ForwardIsADrawAndBackwardIsSoft) {
  const Tensor y = layer_({.x = x_, .memory = h_});
  expect_equal(y, matmul(straight_through(scores() + noise(), 0.6), h_));
}

TEST_F(Gumbel, InUseThereIsNoNoise) {
  layer_.eval();
  const Tensor y = layer_({.x = x_, .memory = h_});
  expect_equal(y, matmul(straight_through(scores(), 0.6), h_));
}

TEST_F(Gumbel, WithoutATapeItIsTheSame) {
  const Tensor y = layer_({.x = x_, .memory = h_});
  default_generator() = Generator(kSeed);
  const NoGrad off;
  EXPECT_LE(test::max_relative_error(layer_({.x = x_, .memory = h_}), y), 1e-14);
}

TEST_F(Gumbel, WeightsAreOneHot) {
  const Tensor w = squeeze(test::weights_of(layer_, {.x = x_, .memory = h_}), 1);
  EXPECT_LE(test::max_relative_error(w, straight_through(scores() + noise(), 0.6).detach()), 1e-12);
}

TEST(GumbelAttention, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { GumbelAttention({.global = {.embed = 4}, .temperature = 0.0}); }),
            "[gumbel] temperature 0: it must be positive");
}

}  // namespace
}  // namespace heed::gumbel_test
