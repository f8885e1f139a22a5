// The captioner: cells, decoding step by step, gradients, attention that samples, configs.
#include "heed/models/captioner.h"

#include <gmock/gmock.h>

#include "heed/attention/samples.h"
#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/ops/reduce.h"
#include "tests/models/model_case.h"
#include "tests/support/error_message.h"

namespace heed::captioner_test {
namespace {

using testing::HasSubstr;

CaptionerConfig small(const std::string& attention = "bahdanau") {
  CaptionerConfig config{.picture = {1, 10, 7},
                         .vocabulary = test::kVocabulary,
                         .encoder = {.channels = 3, .stages = 2, .blocks = 1}};
  config.decoder.embed = 4;
  config.decoder.hidden = 5;
  if (attention.empty()) {
    config.decoder.attention.reset();
  } else {
    config.decoder.attention = attention;
  }
  return config;
}

Tensor pictures(std::int64_t count, DType dtype = DType::f32) {
  Generator generator(3);
  return normal({count, 1, 10, 7}, 0.0, 1.0, generator, dtype);
}

TEST(Captioner, CellsAreAGridOfThePicture) {
  EXPECT_EQ(small().cells(), (std::array<std::int64_t, 2>{3, 2})) << "10 x 7, halved twice";
  const Captioner model(small());
  const Memory memory = model.encode(pictures(2));
  EXPECT_EQ(memory.states.shape(), (Shape{2, 6, 6}));
  EXPECT_EQ(memory.state.shape(), (Shape{2, 1, 5}));
  EXPECT_FALSE(memory.cell.defined()) << "a GRU has none";
}

TEST(Captioner, StepsAreTheWholePass) {
  for (const char* attention : {"bahdanau", "multi_head heads=1", "hard score=additive", ""}) {
    for (const Cell cell : {Cell::gru, Cell::lstm}) {
      CaptionerConfig config = small(attention);
      config.decoder.cell = cell;
      config.decoder.layers = 2;
      Captioner model(config);
      model.encode(pictures(4));  // running averages
      model.eval();
      const NoGrad no_grad;
      const Tensor ids = test::random_ids(3, 5, 1);
      const Memory memory = model.encode(pictures(3));
      const Tensor whole = model.decode(ids, memory);  // [B, T, R]
      const auto decoding = model.start(memory);
      for (std::int64_t t = 0; t < 5; ++t) {
        const Tensor one = decoding->step(view::slice(ids, 1, t, t + 1));  // [B, 1, R]
        EXPECT_LE(test::max_relative_error(one, view::slice(whole, 1, t, t + 1)), 1e-5)
            << attention << " " << t;
      }
    }
  }
}

TEST(Captioner, WeightsAreThoseOfTheCells) {
  std::vector<LayerWeights> weights;
  const Captioner model(small()), without(small(""));
  model.decode(test::random_ids(2, 4, 1), model.encode(pictures(2)), &weights);
  ASSERT_EQ(weights.size(), 1u);
  ASSERT_EQ(weights[0].cross.shape(), (Shape{2, 1, 4, 6}));
  EXPECT_LE(test::max_relative_error(sum(weights[0].cross, {3}), ones({2, 1, 4})), 1e-5);
  without.decode(test::random_ids(2, 4, 1), without.encode(pictures(2)), &weights);
  EXPECT_TRUE(weights.empty());
}

TEST(Captioner, HasTheGradientOfItsLoss) {
  Captioner model(small());
  model.to(DType::f64);
  const Tensor x = pictures(2, DType::f64), ids = test::random_ids(2, 3, 1);
  const Tensor expected = test::random_ids(2, 3, 2);
  std::vector<Tensor> parameters;
  for (const Tensor& parameter : model.parameters()) {
    if (parameter.tracks_grad()) parameters.push_back(parameter);
  }
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor>) {
        return model.output.loss(model.decode(ids, model.encode(x)), expected).loss;
      },
      parameters, {.every = 3});
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(Captioner, HardAttentionSamplesACellForEachWord) {
  const Captioner model(small("hard score=additive"));
  const Memory memory = model.encode(pictures(2));
  std::vector<Sampled> samples;
  {
    const RecordSamples record(samples);
    model.decode(test::random_ids(2, 4, 1), memory);
  }
  std::int64_t positions = 0;
  for (const Sampled& sample : samples) positions += sample.log_prob.size(1);
  EXPECT_EQ(positions, 4);
}

TEST(Captioner, ConfigsThatDoNotFit) {
  EXPECT_THAT(error_message([] { Captioner model({}); }), HasSubstr("give all sizes"));
  EXPECT_THAT(error_message([] { Captioner model(small("lsh")); }), HasSubstr("lsh"));
  const Captioner model(small());
  EXPECT_THAT(error_message([&] {
                model.encode(zeros({1, 1, 9, 7}));
              }),
              HasSubstr("they must be [B, 1, 10, 7]"));
  CaptionerConfig config = small();
  config.dropout = 1.0;
  EXPECT_THAT(error_message([&] { Captioner other(config); }), HasSubstr("below 1"));
}

}  // namespace
}  // namespace heed::captioner_test
