#include "heed/attention/normaliser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/attention/plain_attention.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::normaliser_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr test::CaseSizes kSizes{.B = 2, .H = 2, .G = 2, .Tq = 6, .Tk = 5, .D = 4, .Dv = 3};

// Fused and plain in double, values and gradients; and f32 against f64.
void check(const std::string& name, const test::Op& fused, const test::Op& plain, bool sinks) {
  std::vector<Shape> shapes = test::operand_shapes(kSizes);
  if (sinks) shapes.push_back({kSizes.H});
  test::check_op(
      {.name = name, .shapes = shapes, .op = fused, .tolerance = 4e-6, .gradient_tolerance = 2e-5});
  const auto run = [&](const test::Op& op) {
    Generator generator(2);
    std::vector<Tensor> in;
    for (const Shape& shape : shapes) {
      in.push_back(normal(shape, 0.0, 1.0, generator, DType::f64));
      in.back().requires_grad();
    }
    const Tensor y = op(in);
    backward(y, normal(y.shape(), 0.0, 1.0, generator, DType::f64));
    std::vector<Tensor> results{y};
    for (const Tensor& x : in) results.push_back(x.grad());
    return results;
  };
  const std::vector<Tensor> a = run(fused), b = run(plain);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE(test::max_relative_error(a[i], b[i]), 1e-12) << name << ", result " << i;
  }
}

Tensor plain_scores(test::Tensors in) { return matmul(in[0], transpose(in[1])) * 0.5; }

Tensor triangle() {
  return cast_data(
      test::by_pairs(kSizes, DType::f32, [](auto i, auto j) { return j <= i ? 1.0 : 0.0; }),
      DType::boolean);
}

TEST(Normaliser, SinksTakeWeight) {
  check(
      "sink",
      [](test::Tensors in) {
        return attention(in[0], in[1], in[2],
                         {.mask = causal(), .normaliser = softmax_with_sink(in[3])});
      },
      [](test::Tensors in) {
        const Tensor scores = where(triangle(), plain_scores(in), -kInfinity);
        const Tensor sink = expand(reshape(in[3], {2, 1, 1}), {2, 2, 6, 1});
        return matmul(slice(softmax(concat({scores, sink}, -1)), -1, 0, 5), in[2]);
      },
      true);
}

TEST(Normaliser, ASinkAloneIsTheLogSumExpOfARowWithoutVisibleKeys) {
  const Tensor x = ones({1, 2, 3, 4});
  const Tensor sinks = from_values<float>({0.5, -2}, {2});
  const auto [y, lse] =
      attention_with_log_sum_exp(x, x, x,
                                 {.mask = mask_fn([](int, int, int, int) { return false; }),
                                  .normaliser = softmax_with_sink(sinks)});
  EXPECT_TRUE(test::same_bits(y, zeros({1, 2, 3, 4})));
  EXPECT_LE(test::max_relative_error(lse, view::expand(view::reshape(sinks, {1, 2, 1}), {1, 2, 3})),
            1e-6);
}

TEST(Normaliser, SigmoidWeighsEachKeyByItself) {
  check(
      "sigmoid",
      [](test::Tensors in) {
        return attention(in[0], in[1], in[2], {.mask = causal(), .normaliser = sigmoid_weights()});
      },
      [](test::Tensors in) {
        return matmul(where(triangle(), sigmoid(plain_scores(in)), 0.0), in[2]);
      },
      false);
}

TEST(Normaliser, NoneTakesTheScores) {
  check(
      "none",
      [](test::Tensors in) {
        return attention(in[0], in[1], in[2],
                         {.modifiers = {soft_cap(2.0)},
                          .mask = mask_fn([](int, int, int i, int j) { return j <= i; }),
                          .normaliser = no_normaliser()});
      },
      [](test::Tensors in) {
        const Tensor scores = tanh(plain_scores(in) / 2.0) * 2.0;
        return matmul(where(triangle(), scores, 0.0), in[2]);
      },
      false);
}

// True for the n best of each row; of equal ones the earlier wins.
Tensor among_best(const Tensor& scores, std::size_t n) {
  const std::vector<double> x = scores.detach().to_vector<double>();
  const auto keys = static_cast<std::size_t>(scores.size(-1));
  Tensor best = empty(scores.shape(), DType::boolean);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t before = 0;
    for (std::size_t j = i / keys * keys; j < i / keys * keys + keys; ++j) {
      before += x[j] > x[i] || (x[j] == x[i] && j < i);
    }
    best.mutable_data<bool>()[i] = before < n;
  }
  return best;
}

TEST(Normaliser, TopKTakesTheBestKeys) {
  for (const std::size_t k : {1, 2, 4, 5, 100}) {
    const auto fused = [k](test::Tensors in) {
      return attention(
          in[0], in[1], in[2],
          {.mask = causal(), .normaliser = top_k_weights(static_cast<std::int64_t>(k))});
    };
    const auto plain = [k](test::Tensors in) {
      Tensor scores = where(triangle(), plain_scores(in), -kInfinity);
      const Tensor double_scores = cast_data(scores.detach(), DType::f64);
      scores = where(among_best(double_scores, k), scores, -kInfinity);
      return matmul(softmax(scores), in[2]);
    };
    check("top_k", fused, plain, false);
  }
}

TEST(Normaliser, TopKTakesTheEarlierOfEqualKeysAndKeepsTheirGradient) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor x = ones({1, 1, 3, 2}, dtype), k = ones({1, 1, 9, 2}, dtype);
    Tensor v = zeros({1, 1, 9, 1}, dtype);
    v.requires_grad();
    const auto [y, lse] =
        attention_with_log_sum_exp(x, k, v, {.score = dot_score(), .normaliser = top_k_weights(4)});
    backward(y, ones({1, 1, 3, 1}, dtype));
    for (std::int64_t j = 0; j < 9; ++j) {
      EXPECT_NEAR(view::select(view::reshape(v.grad(), {9}), 0, j).item(), j < 4 ? 0.75 : 0.0,
                  1e-6);
    }
    EXPECT_NEAR(view::select(view::reshape(lse, {3}), 0, 0).item(), 2.0 + std::log(4.0), 1e-6);
  }
}

TEST(Normaliser, HardReadsOneValueAndSendsNoGradientToScores) {
  Generator generator(4);
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor q = normal({2, 2, 20, 4}, 0.0, 1.0, generator, dtype);
    Tensor k = normal({2, 2, 30, 4}, 0.0, 1.0, generator, dtype);
    Tensor v = normal({2, 2, 30, 3}, 0.0, 1.0, generator, dtype);
    Tensor bias = zeros({20, 30}, dtype);
    for (Tensor* const x : {&q, &k, &v, &bias}) x->requires_grad();
    const Tensor y = attention(
        q, k, v,
        {.modifiers = {dense_bias(bias)}, .mask = causal(), .normaliser = hard_weights(3)});
    backward(y, ones(y.shape(), dtype));
    const std::vector<double> out = cast_data(y.detach(), DType::f64).to_vector<double>();
    const std::vector<double> values = cast_data(v.detach(), DType::f64).to_vector<double>();
    for (std::size_t row = 0; row < 80; ++row) {
      int matches = 0;
      for (std::size_t j = 0; j <= row % 20; ++j) {
        const std::size_t at = (row / 20 * 30 + j) * 3;
        matches += std::abs(out[row * 3] - values[at]) < 1e-6 &&
                   std::abs(out[row * 3 + 2] - values[at + 2]) < 1e-6;
      }
      EXPECT_EQ(matches, 1) << row;
    }
    for (const Tensor* const x : {&q, &k, &bias}) {
      EXPECT_TRUE(test::same_bits(x->grad(), zeros(x->shape(), dtype)));
    }
    EXPECT_NEAR(sum(v.grad()).item(), 2 * 2 * 20 * 3, 1e-4);
  }
}

TEST(Normaliser, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 2, 3, 4});
  EXPECT_EQ(error_message([] {
              softmax_with_sink(ones({2, 1}));
            }),
            "[softmax_with_sink] sinks [2, 1]: they must be [H], one for each head");
  EXPECT_EQ(
      error_message([&] { attention(x, x, x, {.normaliser = softmax_with_sink(ones({3}))}); }),
      "[attention] sinks of softmax_with_sink [3]: there must be one for each of 2 heads");
  EXPECT_EQ(error_message([&] {
              attention(x, x, x, {.normaliser = softmax_with_sink(ones({2}, DType::f64))});
            }),
            "[attention] sinks of softmax_with_sink is f64, this call computes in f32: use cast(x, "
            "DType::f32)");
  EXPECT_EQ(error_message([] { top_k_weights(0); }),
            "[top_k_weights] k is 0: it must be at least 1");
  EXPECT_EQ(
      error_message([&] { attention_with_log_sum_exp(x, x, x, {.normaliser = hard_weights(1)}); }),
      "[attention] the log-sum-exp of hard_weights: only softmax has one");
  EXPECT_EQ(error_message(
                [&] { attention_with_log_sum_exp(x, x, x, {.normaliser = sigmoid_weights()}); }),
            "[attention] the log-sum-exp of sigmoid_weights: only softmax has one");
}

}  // namespace
}  // namespace heed::normaliser_test
