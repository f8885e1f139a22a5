// The output layer: scores with a bias and with a soft cap, and the same loss as from stored
// scores.
#include "heed/models/output_layer.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"

#include <cmath>

#include "heed/models/language_model.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/models/model_case.h"

namespace heed::output_layer_test {
namespace {

using test::max_relative_error;
using test::same_bits;

constexpr std::int64_t kSize = 6, kTokens = 9;

TEST(OutputLayer, ScoresHaveTheBiasAndTheCap) {
  const Tensor states = randn({2, 3, kSize});
  const Tensor weight = randn({kTokens, kSize}), bias = randn({kTokens});
  const Tensor plain = OutputLayer(Weight(weight))(states);
  const Tensor with_bias = OutputLayer(Weight(weight), bias)(states);
  EXPECT_EQ(plain.shape(), (Shape{2, 3, kTokens}));
  EXPECT_LE(max_relative_error(with_bias, plain + bias), 1e-6);
  const Tensor capped = OutputLayer(Weight(weight), bias, 1.5)(states);
  EXPECT_LE(max_relative_error(capped, 1.5 * tanh(with_bias * (1.0 / 1.5))), 1e-6);
  for (const float score : capped.values<float>()) EXPECT_LE(std::abs(score), 1.5f);
}

TEST(OutputLayer, LossIsThatOfTheScores) {
  const Tensor states = randn({2, 3, kSize});
  const Tensor targets = from_values<std::int64_t>({1, 8, -100, 0, 4, 4}, {2, 3});
  const CrossEntropyOptions options{.label_smoothing = 0.1};
  for (const bool has_bias : {false, true}) {
    for (const double cap : {0.0, 2.0}) {
      Tensor weight = randn({kTokens, kSize}).requires_grad();
      const OutputLayer layer(Weight(weight), has_bias ? randn({kTokens}) : Tensor(), cap);
      const LinearCrossEntropy result = layer.loss(states, targets, options);
      EXPECT_EQ(result.counted, 5);
      result.loss.backward();
      const Tensor gradient = weight.grad();
      weight.set_grad({});
      const Tensor loss = cross_entropy(layer(states), targets, options);
      EXPECT_NEAR(result.loss.item(), loss.item(), 1e-5);
      {
        const NoGrad no_grad;
        OutputLayer packed = layer;
        packed.weight.pack(PackedForm::f32);
        EXPECT_NEAR(packed.loss(states, targets, options).loss.item(), loss.item(), 1e-5);
      }
      loss.backward();
      EXPECT_LE(max_relative_error(gradient, weight.grad()), 1e-5);
      const Tensor plain = cross_entropy(layer(states), targets, {.reduction = Reduction::sum});
      EXPECT_NEAR(result.negative_log_likelihood, plain.item(), 1e-4);
    }
  }
}

TEST(OutputLayer, LanguageModelsHaveTheCapOfTheirConfig) {
  LanguageModelConfig config{.vocabulary = test::kVocabulary, .layers = 1};
  config.block.embed = test::kEmbed;
  config.block.heads = test::kHeads;
  Generator first(1), second(1);
  const LanguageModel plain(config, first);
  config.output_soft_cap = 0.01;
  const LanguageModel capped(config, second);
  const Tensor states = randn({1, 4, test::kEmbed});
  EXPECT_LE(
      max_relative_error(capped.output(states), 0.01 * tanh(plain.output(states) * (1.0 / 0.01))),
      1e-6);
}

TEST(OutputLayer, LanguageModelsScaleEmbeddingsIfAsked) {
  LanguageModelConfig config{.vocabulary = test::kVocabulary, .layers = 1};
  config.block.embed = test::kEmbed;
  config.block.heads = test::kHeads;
  config.block.positions = "rope";
  config.scaled_embeddings = true;
  const LanguageModel model(config);
  const Tensor ids = test::random_ids(1, 4, 1);
  EXPECT_TRUE(same_bits(model.tokens(ids), model.tokens.tokens(ids) * 4.0));
}

}  // namespace
}  // namespace heed::output_layer_test
