#include "heed/attention/program.h"

#include <gtest/gtest.h>

#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/kernels/attention/stages/observe.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed::program_test {
namespace {

constexpr kernels::AttentionShape kShape{.B = 1, .H = 2, .G = 1, .Tq = 3, .Tk = 4, .D = 5, .Dv = 6};

TEST(AttentionProgram, ListsTensorsAndStagesInOrder) {
  const Tensor bias = ones({3, 4}), sinks = zeros({2});
  const AttentionSpec spec{.modifiers = {soft_cap(2.0), dense_bias(bias), alibi(ones({2}))},
                           .mask = causal(),
                           .normaliser = softmax_with_sink(sinks),
                           .reweights = {weight_dropout(0.0), weight_dropout(0.5, 1)}};
  TensorList inputs(3);  // q, k and v
  const ProgramMaker prepared(spec, kShape, {.q = {}, .k = {}, .scale = 0.25}, DType::f32, inputs);
  ASSERT_EQ(inputs.size(), 6u);
  EXPECT_EQ(prepared.sinks_at(), 3u);
  EXPECT_EQ(inputs[3].data<float>(), sinks.data<float>());
  EXPECT_EQ(inputs[4].data<float>(), bias.data<float>());
  EXPECT_EQ(inputs[5].shape(), Shape({2, 6}));

  const OwnedProgram<float> program(prepared, inputs, Observations());
  EXPECT_EQ((*program).modifiers.size(), 3u);
  EXPECT_EQ((*program).reweights.size(), 1u) << "dropout of nothing is no stage";
  EXPECT_EQ((*program).scale, 0.25f);
  EXPECT_EQ((*program).sinks, sinks.data<float>());
  EXPECT_NE((*program).mask, nullptr);
}

TEST(AttentionProgram, HasTheWeightsOfAdditiveScores) {
  const Tensor shared = ones({5}), own = ones({2, 5});
  for (const Tensor& weights : {shared, own}) {
    TensorList inputs(3);
    const ProgramMaker prepared({}, kShape, {.q = {}, .k = {}, .scale = 1.0, .additive = weights},
                                DType::f32, inputs);
    ASSERT_TRUE(prepared.is_additive());
    EXPECT_EQ(prepared.additive_at(), 3u);
    const OwnedProgram<float> program(prepared, inputs, Observations());
    EXPECT_EQ((*program).additive, weights.data<float>());
    EXPECT_EQ((*program).additive_head, weights.rank() == 1 ? 0 : 5);
  }
}

TEST(AttentionProgram, TopKIsLeftOutWhereEveryKeyIsAmongTheBest) {
  TensorList inputs;
  for (const auto& [k, expected] : {std::pair{1, 1}, {3, 3}, {4, 0}, {1000000000, 0}}) {
    const ProgramMaker prepared({.normaliser = top_k_weights(k)}, kShape, {}, DType::f32, inputs);
    EXPECT_EQ((*OwnedProgram<float>(prepared, inputs, Observations())).top_k, expected) << k;
  }
  kernels::AttentionShape one = kShape;
  one.Tk = 1;
  const ProgramMaker hard({.normaliser = hard_weights(1)}, one, {}, DType::f32, inputs);
  const OwnedProgram<float> program(hard, inputs, Observations());
  EXPECT_EQ((*program).top_k, 1) << "which key it is is asked for";
  EXPECT_EQ((*program).modifiers.size(), 1u) << "the noise";
  EXPECT_FALSE(hard.has_log_sum_exp());
  EXPECT_TRUE(hard.keeps_log_sum_exp());
}

TEST(AttentionProgram, ObserversStandAtTheirPointAndOnlyInForward) {
  Tensor out[5];
  AttentionSpec spec{
      .modifiers = {soft_cap(2.0)},
      .reweights = {weight_dropout(0.5, 1)},
      .observers = {observe_scores(out[0], {}, 0), observe_scores(out[1]), observe_weights(out[2]),
                    observe_weights(out[3], {}, WeightsAt::read), observe_log_sum_exp(out[4])}};
  TensorList inputs(3);
  const ProgramMaker prepared(spec, kShape, {}, DType::f32, inputs);
  EXPECT_TRUE(prepared.shows_log_sum_exp());
  const Observations observations = prepared.start_observers();
  ASSERT_EQ(observations.size(), 5u);
  const OwnedProgram<float> forward(prepared, inputs, observations);
  const auto is_watch = [](const kernels::TileStage<float>* stage) {
    return dynamic_cast<const kernels::ObserverStage<float>*>(stage) != nullptr;
  };
  ASSERT_EQ((*forward).modifiers.size(), 3u);
  EXPECT_TRUE(is_watch((*forward).modifiers[0]) && is_watch((*forward).modifiers[2]));
  ASSERT_EQ((*forward).reweights.size(), 3u);
  EXPECT_TRUE(is_watch((*forward).reweights[0]) && is_watch((*forward).reweights[2]));
  EXPECT_FALSE((*forward).only_observers);
  TensorList gradients(3);
  const OwnedProgram<float> backward(prepared, inputs, std::span(gradients));
  EXPECT_EQ((*backward).modifiers.size(), 1u);
  EXPECT_EQ((*backward).reweights.size(), 1u);

  spec.modifiers.clear();
  const ProgramMaker bare(spec, kShape, {}, DType::f32, inputs);
  EXPECT_TRUE((*OwnedProgram<float>(bare, inputs, bare.start_observers())).only_observers);
}

TEST(AttentionProgram, ObserversCountAsStages) {
  Tensor out;
  AttentionSpec spec;
  for (int i = 0; i < 16; ++i) spec.observers.push_back(observe_weights(out));
  TensorList inputs;
  EXPECT_NO_THROW(ProgramMaker(spec, kShape, {}, DType::f32, inputs));
  spec.reweights = {weight_dropout(0.5, 1)};
  EXPECT_EQ(error_message([&] { ProgramMaker(spec, kShape, {}, DType::f32, inputs); }),
            "[attention] more than 16 stages in one list: join some of them");
}

TEST(AttentionProgram, APlainOneHasNothingInIt) {
  TensorList inputs;
  const ProgramMaker prepared({}, kShape, {}, DType::f64, inputs);
  EXPECT_TRUE(inputs.empty());
  EXPECT_FALSE(prepared.has_sinks());
  EXPECT_TRUE(prepared.has_log_sum_exp());
  const OwnedProgram<double> program(prepared, inputs, Observations());
  EXPECT_TRUE((*program).modifiers.empty() && (*program).reweights.empty());
  EXPECT_EQ((*program).mask, nullptr);
  EXPECT_EQ((*program).sinks, nullptr);
}

}  // namespace
}  // namespace heed::program_test
