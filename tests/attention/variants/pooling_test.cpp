// Attention pooling: its formula, the learned query as its special case, and the penalty.
#include "heed/attention/variants/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/attention_weights.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::max_relative_error;

TEST(AttentionPooling, EqualsThePlainFormulaForAnyNumberOfHops) {
  for (const std::int64_t hops : {1, 3, 30}) {
    Generator generator(5);
    const AttentionPooling layer({.embed = 6, .hidden = 5, .hops = hops, .bias = true}, generator);
    const Tensor h = normal({2, 70, 6}, 0.0, 2.0, generator);
    const Tensor hidden = tanh(linear(h, layer.proj.weight.data, {.bias = layer.proj.bias}));
    const Tensor a = softmax(matmul(layer.queries, transpose(hidden)));  // [B, R, T]
    const AttentionPooling::Pooled pooled = layer.pool({.x = h});
    EXPECT_LE(max_relative_error(pooled.weights, a), 2e-6);
    EXPECT_LE(max_relative_error(pooled.vectors, matmul(a, h)), 2e-6);
    EXPECT_TRUE(test::same_bits(pooled.vectors, layer({.x = h})));
  }
}

TEST(AttentionPooling, AQueryOfZerosIsTheMeanOfWhatIsThere) {
  AttentionPooling layer({.embed = 2, .hops = 1});
  copy_into(layer.queries, scalar(0.0));
  const Tensor x = from_values({1.0f, 2.0f, 3.0f, 6.0f, 100.0f, 100.0f}, {1, 3, 2});
  const Tensor y = layer({.x = x, .lengths = from_values<std::int64_t>({2}, {1})});
  EXPECT_EQ(y.shape(), (Shape{1, 1, 2}));
  EXPECT_FLOAT_EQ(y.to_vector<float>()[0], 2.0f);
  EXPECT_FLOAT_EQ(y.to_vector<float>()[1], 4.0f);
}

TEST(AttentionPooling, PenaltyByHand) {
  // A = [[1, 0], [1/2, 1/2]]: A A^T = [[1, 1/2], [1/2, 1/2]], minus I [[0, 1/2], [1/2, -1/2]].
  const Tensor a = from_values({1.0f, 0.0f, 0.5f, 0.5f, 1.0f, 0.0f, 0.0f, 1.0f}, {2, 2, 2});
  const std::vector<float> penalty = pooling_penalty(a).to_vector<float>();
  EXPECT_FLOAT_EQ(penalty[0], 0.75f);
  EXPECT_FLOAT_EQ(penalty[1], 0.0f);  // each hop its own position
}

TEST(AttentionPooling, ThePenaltyDrivesHopsApart) {
  Generator generator(6);
  AttentionPooling layer({.embed = 4, .hops = 2}, generator);
  const Tensor x = normal({3, 5, 4}, 0.0, 1.0, generator);
  const auto penalty = [&] { return mean(pooling_penalty(layer.pool({.x = x}).weights)); };
  const double before = penalty().item();
  for (int i = 0; i < 50; ++i) {
    layer.zero_grad();
    penalty().backward();
    for (Tensor& parameter : layer.parameters()) {
      copy_into(parameter, (parameter.detach() - 0.5 * parameter.grad()));
    }
  }
  EXPECT_LT(penalty().item(), 0.8 * before);
}

TEST(AttentionPooling, WrongUseSaysWhatIsWrong) {
  const AttentionPooling layer({.embed = 4});
  const Tensor x = zeros({1, 3, 4});
  EXPECT_EQ(error_message([&] { layer({.x = x, .memory = x}); }),
            "[pooling] a memory is given: a sequence is pooled as a whole; use lengths or a mask");
  EXPECT_EQ(error_message([&] { layer({.x = x, .causal = true}); }),
            "[pooling] causal is given: a sequence is pooled as a whole; use lengths or a mask");
  EXPECT_EQ(error_message([&] { pooling_penalty(test::weights_of(layer, {.x = x})); }),
            "[pooling_penalty] weights are [1, 1, 4, 3]: they must be [B, R, T]");
}

}  // namespace
}  // namespace heed
