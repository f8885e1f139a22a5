// The term of REINFORCE: rewards by hand, gradients of hard attention in every kind of model, the
// baseline, and what straight-through samples report.
#include "heed/training/sampled_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/models/recurrent_translator.h"
#include "heed/models/transformer.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::sampled_loss_test {
namespace {

using test::lengths_of;
using testing::ElementsAre;

TransformerConfig transformer(const char* cross) {
  return {.source_vocabulary = test::kVocabulary,
          .target_vocabulary = test::kVocabulary,
          .encoder_layers = 1,
          .decoder_layers = 2,
          .block = {.embed = test::kEmbed,
                    .heads = test::kHeads,
                    .hidden = test::kHidden,
                    .dropout = 0.0,
                    .cross_attention = cross}};
}

TEST(SampledLoss, RewardsAreMeansOfTheTokensToCome) {
  const Tensor x = from_values<float>({-1, -2, -6, 9, -3, -5, 9, 9}, {2, 4});
  const Tensor lengths = lengths_of({3, 2});
  EXPECT_THAT(rewards_to_go(x, lengths, 0.0).to_vector<float>(),
              ElementsAre(-1, -2, -6, 0, -3, -5, 0, 0));
  EXPECT_THAT(rewards_to_go(x, lengths, 1.0).to_vector<float>(),
              ElementsAre(-3, -4, -6, 0, -4, -5, 0, 0));
  EXPECT_THAT(rewards_to_go(x, lengths, 0.5).to_vector<float>(),
              ElementsAre(-2, testing::FloatNear(-10.0f / 3.0f, 1e-6f), -6, 0,
                          testing::FloatNear(-11.0f / 3.0f, 1e-6f), -5, 0, 0));
}

TEST(SampledLoss, OnlyModelsThatSampleNeedIt) {
  const auto needs = [](const char* cross) {
    return SampledLoss(Transformer(transformer(cross)), {}).is_needed();
  };
  EXPECT_FALSE(needs("multi_head"));
  EXPECT_TRUE(needs("hard"));
  EXPECT_TRUE(needs("gumbel"));
}

// Two calls of steps and one of whole rows mean the same positions.
TEST(SampledLoss, TheTermIsThatOfReinforce) {
  const SampledLossConfig config{.reinforce = {.decay = 0.5, .weight = 2.0, .entropy = 0.1}};
  const Tensor log_prob = from_values<float>({-1, -2, -3, -4}, {2, 2}).requires_grad();
  const Tensor entropy = from_values<float>({0.5, 0.25, 1, 0.75}, {2, 2}).requires_grad();
  SampledPass pass{.target_lengths = lengths_of({2, 1}),
                   .log_likelihoods = from_values<float>({-1, -5, -3, 0}, {2, 2})};
  pass.decoder = {{log_prob, entropy}};
  SampledLoss sampled(Transformer(transformer("hard")), config);
  sampled.restore({.baseline = -2.0, .baseline_updates = 7});
  BatchLoss loss{.sum = scalar(11.0)};
  sampled.add(pass, loss);
  EXPECT_EQ(loss.sum.item(), 11.0) << "the value is that of the tokens";
  EXPECT_EQ(loss.sampled.samples, 3);
  EXPECT_FLOAT_EQ(static_cast<float>(loss.sampled.reward), -9.0f);
  EXPECT_FLOAT_EQ(static_cast<float>(loss.sampled.entropy), 1.75f);
  loss.sum.backward();
  // -weight (reward - baseline), and 0 after the end of a row.
  EXPECT_THAT(log_prob.grad().to_vector<float>(), ElementsAre(-2, 6, 2, 0));
  const auto bonus = testing::FloatNear(-0.1f, 1e-6f);
  EXPECT_THAT(entropy.grad().to_vector<float>(), ElementsAre(bonus, bonus, bonus, 0));
  EXPECT_DOUBLE_EQ(sampled.state().baseline, 0.5 * -2.0 + 0.5 * -3.0);
  EXPECT_EQ(sampled.state().baseline_updates, 8);
}

TEST(SampledLoss, SamplesOfTheEncoderHaveTheMeanOfTheRow) {
  const Tensor log_prob = from_values<float>({-1, -2, -3}, {1, 3}).requires_grad();
  SampledPass pass{.source_lengths = lengths_of({2}),
                   .target_lengths = lengths_of({2}),
                   .log_likelihoods = from_values<float>({-1, -5}, {1, 2})};
  pass.encoder = {{log_prob, ones({1, 3})}};
  SampledLoss sampled(Transformer(transformer("hard")), {});
  sampled.restore({.baseline = -2.0, .baseline_updates = 1});
  BatchLoss loss{.sum = scalar(0.0)};
  sampled.add(pass, loss);
  loss.sum.backward();
  EXPECT_THAT(log_prob.grad().to_vector<float>(), ElementsAre(1, 1, 0));
}

TEST(SampledLoss, StraightThroughSamplesAreOnlyReported) {
  SampledPass pass{.target_lengths = lengths_of({2}),
                   .log_likelihoods = from_values<float>({-1, -5}, {1, 2})};
  pass.decoder = {{{}, from_values<float>({0.5}, {1, 1})}, {{}, from_values<float>({1}, {1, 1})}};
  SampledLoss sampled(Transformer(transformer("gumbel")), {});
  BatchLoss loss{.sum = scalar(3.0)};
  sampled.add(pass, loss);
  EXPECT_EQ(loss.sampled.samples, 2);
  EXPECT_EQ(loss.sampled.reward, -6.0);
  EXPECT_EQ(loss.sampled.entropy, 1.5);
  EXPECT_EQ(sampled.state().baseline_updates, 0);
}

// Without the term, a sample has no gradient with respect to the scores.
template <typename Translator>
void expect_scores_learn(const typename Translator::Config& config, const std::string& part) {
  Translator model(config);
  const Tensor source = test::random_ids(3, 9, 1), lengths = lengths_of({9, 5, 7});
  const Tensor target = test::random_ids(3, 8, 2), expected = test::random_ids(3, 8, 3);
  SampledPass pass{.source_lengths = lengths, .target_lengths = lengths_of({8, 8, 8})};
  SampledLoss sampled(model, {});
  BatchLoss loss;
  {
    const RecordSamples record(pass.decoder);
    const Tensor y = model.decode(target, model.encode(source, lengths));
    const LinearCrossEntropy tokens = model.output.loss(y, expected);
    loss.sum = tokens.loss;
    pass.log_likelihoods = tokens.log_likelihoods;
  }
  sampled.restore({.baseline = -1.0, .baseline_updates = 1});
  sampled.add(pass, loss);
  loss.sum.backward();
  int found = 0;
  for (const NamedTensor& parameter : model.named_parameters()) {
    if (parameter.name.find(part) == std::string::npos) continue;
    ++found;
    ASSERT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    EXPECT_GT(sum(abs(parameter.tensor.grad())).item(), 0.0) << parameter.name;
  }
  EXPECT_GT(found, 0);
}

TEST(SampledLoss, HardAttentionLearnsInEveryTranslator) {
  expect_scores_learn<Transformer>(transformer("hard"), "multihead_attn.weight");
  for (const Feeding feeding : {Feeding::context, Feeding::none, Feeding::readout}) {
    RecurrentTranslatorConfig config{.source_vocabulary = test::kVocabulary,
                                     .target_vocabulary = test::kVocabulary};
    config.decoder.embed = 6;
    config.decoder.hidden = 7;
    config.decoder.attention = "hard score=additive";
    config.decoder.feeding = feeding;
    config.decoder.readout = Readout::attentional;
    expect_scores_learn<RecurrentTranslator>(config, "decoder.attention.");
  }
}

// A learned baseline is subtracted instead of the moving average, and learns by squares.
TEST(SampledLoss, ALearnedBaselineIsSubtractedAndLearns) {
  const Tensor log_prob = from_values<float>({-1, -2}, {2, 1}).requires_grad();
  const Tensor baseline = from_values<float>({0.25, 0.5}, {2, 1}).requires_grad();
  const Tensor scores = from_values<float>({3, 1, 0, 2, 0, 5}, {2, 3});
  const Tensor labels = from_values<std::int64_t>({0, 0}, {2});  // right, and wrong
  SampledLoss sampled(Transformer(transformer("hard")),
                      {.reinforce = {.weight = 2.0}, .reward = LabelReward::accuracy});
  sampled.restore({.baseline = -7.0, .baseline_updates = 1});
  BatchLoss loss{.sum = scalar(4.0)};
  sampled.add_labels({{log_prob, ones({2, 1}), baseline}}, {}, {scores, labels}, loss);
  EXPECT_EQ(loss.sum.item(), 4.0);
  EXPECT_EQ(loss.sampled.reward, 1.0) << "one of two is right";
  loss.sum.backward();
  EXPECT_THAT(log_prob.grad().to_vector<float>(), ElementsAre(-1.5f, 1.0f));
  EXPECT_THAT(baseline.grad().to_vector<float>(), ElementsAre(-1.5f, 1.0f));
}

TEST(SampledLoss, LabelsAreRewardedByTheirLikelihoodOrAccuracy) {
  const Tensor scores = from_values<float>({0, 0, 0, 0}, {2, 2});
  const Tensor labels = from_values<std::int64_t>({0, 1}, {2});
  const auto reward = [&](LabelReward kind) {
    SampledLoss sampled(Transformer(transformer("hard")), {.reward = kind});
    BatchLoss loss = label_loss({scores, labels}, 0.1);
    EXPECT_EQ(loss.counted, 2);
    EXPECT_NEAR(loss.negative_log_likelihood, 2.0 * std::log(2.0), 1e-6);
    sampled.add_labels({{zeros({2, 3}), ones({2, 3})}}, lengths_of({3, 1}), {scores, labels}, loss);
    EXPECT_EQ(loss.sampled.samples, 4) << "positions after the end do not count";
    return loss.sampled.reward;
  };
  EXPECT_NEAR(reward(LabelReward::likelihood), -4.0 * std::log(2.0), 1e-6);
  EXPECT_EQ(reward(LabelReward::accuracy), 3.0) << "of equal scores, the first is said";
}

TEST(SampledLoss, WrongConfigsSayWhatIsWrong) {
  EXPECT_EQ(error_message([] { SampledLossConfig{.discount = 2.0}.validate(); }),
            "[reinforce] discount 2: it must be from 0 to 1");
}

}  // namespace
}  // namespace heed::sampled_loss_test
