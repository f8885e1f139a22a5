#include "heed/attention/variants/projected_tanh.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::projected_tanh_test {
namespace {

TEST(ProjectedTanh, IsItsFormula) {
  ProjectedTanhConfig config;
  config.multi_head.embed = 6;
  config.multi_head.memory_embed = 5;
  Generator generator(2);
  const ProjectedTanhAttention layer(config, generator);
  const Tensor x = randn({2, 3, 6}), memory = randn({2, 4, 5});
  const Tensor q = tanh((*layer.q_proj)(x));       // [B, Tq, E]
  const Tensor k = tanh((*layer.k_proj)(memory));  // [B, Tk, E]
  const Tensor v = tanh((*layer.v_proj)(memory));
  const Tensor weights = softmax(matmul(q, transpose(k)) / std::sqrt(6.0));
  const Tensor right = layer.out_proj(matmul(weights, v));
  EXPECT_LE(test::max_relative_error(layer({.x = x, .memory = memory}), right), 1e-5);
}

// Scores are at most sqrt(d), whatever the input.
TEST(ProjectedTanh, ScoresAreBounded) {
  ProjectedTanhConfig config;
  config.multi_head.embed = 16;
  const ProjectedTanhAttention layer(config);
  const Tensor x = randn({1, 8, 16}) * 1e6;
  Tensor weights;
  layer({.x = x, .weights = &weights});
  const double least = std::exp(-2.0 * std::sqrt(16.0)) / 8.0;
  for (const float w : weights.to_vector<float>()) EXPECT_GE(w, least);
}

TEST(ProjectedTanh, TheOutputLayerHasTheActivationOfItsOption) {
  for (const Activation f : {Activation::tanh, Activation::relu}) {
    MultiHeadConfig config{.embed = 6, .heads = 2};
    Generator one(3), two(3);
    const MultiHeadAttention plain(config, one);
    config.output_activation = f;
    const MultiHeadAttention layer(config, two);
    const Tensor x = randn({2, 5, 6});
    EXPECT_LE(test::max_relative_error(layer({.x = x}), activate(f, plain({.x = x}))), 1e-6);
  }
}

}  // namespace
}  // namespace heed::projected_tanh_test
