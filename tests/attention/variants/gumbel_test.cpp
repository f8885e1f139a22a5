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
  // Queries and parameters.
  std::vector<Tensor> trained() const {
    std::vector<Tensor> all = leaves();
    all.erase(all.begin() + 1);
    return all;
  }
  // Value and gradients, which are cleared afterwards.
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

// The gradient with respect to the scores, and so to all parameters and to queries, is that of
// softmax((s + g) / tau) with the noise g of the sample, under every kind of mask.
TEST_F(Gumbel, TheGradientOfScoresIsThatOfTheSoftSurrogate) {
  const Tensor lengths = from_values<std::int64_t>({Tk, 3}, {B});
  const Tensor keys = arange(Tk), queries = unsqueeze(arange(Tq), 1);
  const Tensor within = reshape(less(reshape(keys, {1, Tk}), unsqueeze(lengths, 1)), {B, 1, Tk});
  const Tensor not_later = less_equal(reshape(keys, {1, Tk}), queries);  // [Tq, Tk]
  struct Case {
    const char* name;
    AttentionInput in;
    Tensor visible;
  };
  const Tensor memory = h_.detach();  // values get no gradient
  const Case cases[] = {
      {"all", {.x = x_, .memory = memory}, {}},
      {"lengths", {.x = x_, .memory = memory, .lengths = lengths}, within},
      {"causal", {.x = x_, .memory = memory, .causal = true}, not_later},
  };
  for (const bool training : {true, false}) {
    layer_.train(training);
    for (const Case& c : cases) {
      default_generator() = Generator(kSeed);
      Tensor s = training ? scores() + noise() : scores();
      if (c.visible.defined()) s = where(c.visible, s, -1e30);
      const Tensor down = drawn({B, Tq, E}, 9);
      backward(matmul(softmax(s / 0.6), memory), down);
      std::vector<Tensor> expected;
      for (Tensor& leaf : trained()) {
        expected.push_back(leaf.grad());
        leaf.set_grad({});
      }
      default_generator() = Generator(kSeed);
      backward(layer_(c.in), down);
      std::size_t i = 0;
      for (Tensor& leaf : trained()) {
        ASSERT_TRUE(leaf.grad().defined()) << c.name << ' ' << i;
        EXPECT_LE(test::max_relative_error(leaf.grad(), expected[i]), 1e-12) << c.name << ' ' << i;
        EXPECT_GT(sum(abs(expected[i])).item(), 1e-3) << c.name << ' ' << i;
        leaf.set_grad({});
        ++i;
      }
    }
  }
}

TEST_F(Gumbel, ObservingChangesNoGradient) {
  const std::vector<Tensor> plain = everything(layer_({.x = x_, .memory = h_}));
  default_generator() = Generator(kSeed);
  Tensor weights;
  const std::vector<Tensor> observed =
      everything(layer_({.x = x_, .memory = h_, .weights = &weights}));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_TRUE(test::same_bits(plain[i], observed[i])) << i;
  }
  EXPECT_FALSE(weights.tracks_grad());
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
