#include "heed/attention/entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/autograd/gradcheck.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::entropy_test {
namespace {

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  Generator generator(seed);
  return normal(shape, 0.0, 1.0, generator, DType::f64);
}

TEST(AttentionEntropy, OfEqualWeightsIsTheLogarithmOfTheirNumber) {
  const Tensor h = attention_entropy(zeros({2, 1, 3, 4}), zeros({2, 1, 9, 4}),
                                     {.mask = causal() & key_lengths({9, 0})});
  const std::vector<float> values = h.to_vector<float>();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(values[i], std::log(static_cast<double>(i + 1)), 1e-6);
    EXPECT_EQ(values[3 + i], 0.0f);  // no visible key
  }
}

TEST(AttentionEntropy, EqualsThePlainOne) {
  test::check_op({.name = "attention_entropy",
                  .shapes = {{2, 2, 5, 3}, {2, 2, 7, 3}},
                  .op = [](auto in) { return attention_entropy(in[0], in[1]); }});
  const Tensor q = drawn({2, 2, 5, 3}, 1), k = drawn({2, 2, 7, 3}, 2);
  const Tensor p = softmax(matmul(q, transpose(k)) / std::sqrt(3.0));
  EXPECT_LE(test::max_relative_error(attention_entropy(q, k), -sum(p * log(p), {-1})), 1e-12);
}

TEST(AttentionEntropy, GradientsAreThoseOfDifferencesUnderAnyStages) {
  std::vector<Tensor> inputs{drawn({1, 2, 4, 3}, 1), drawn({1, 1, 6, 3}, 2), drawn({2, 3}, 3),
                             drawn({4, 6}, 4)};
  for (Tensor& x : inputs) x.requires_grad();
  const GradCheckResult result = gradcheck(
      [](std::span<const Tensor> in) {
        return attention_entropy(in[0], in[1],
                                 {.score = additive_score(in[2]),
                                  .modifiers = {soft_cap(2.0), dense_bias(in[3])},
                                  .mask = causal(Corner::offset(-1))});
      },
      inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(AttentionEntropy, WhatIsHiddenDoesNotShow) {
  const Tensor q = drawn({1, 1, 3, 4}, 1);
  Tensor k = drawn({1, 1, 5, 4}, 2);
  const AttentionSpec spec{.mask = key_lengths({4})};
  const Tensor before = attention_entropy(q, k, spec);
  for (std::int64_t d = 0; d < 4; ++d) k.mutable_data<double>()[16 + d] = NAN;
  EXPECT_TRUE(test::same_bits(attention_entropy(q, k, spec), before));
}

TEST(AttentionEntropy, AKeyWithoutAnyWeightAddsNothing) {
  const Tensor q = zeros({1, 1, 1, 2}), k = zeros({1, 1, 3, 2});
  const Tensor bias = from_values<float>({0, 0, -INFINITY}, {1, 3});
  EXPECT_NEAR(attention_entropy(q, k, {.modifiers = {dense_bias(bias)}}).item(), std::log(2.0),
              1e-6);
}

TEST(AttentionEntropy, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 1, 2, 3});
  EXPECT_EQ(
      error_message([&] { attention_entropy(x, x, {.normaliser = sigmoid_weights()}); }),
      "[attention_entropy] spec.normaliser is sigmoid_weights: it must be softmax_weights, the "
      "default");
}

}  // namespace
}  // namespace heed::entropy_test
