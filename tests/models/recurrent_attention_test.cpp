// The recurrent attention model: what every model of pictures does, where it looks in training and
// outside, gradients, and what REINFORCE teaches.
#include "heed/models/recurrent_attention.h"

#include "heed/attention/samples.h"
#include "heed/autograd/gradcheck.h"
#include "heed/ops/cross_entropy.h"
#include "heed/tensor/copy.h"
#include "heed/training/sampled_loss.h"
#include "tests/models/picture_case.h"

namespace heed::recurrent_attention_test {
namespace {

using testing::HasSubstr;

RecurrentAttentionConfig small() {
  return {.sizes = test::kPictureSizes,
          .glimpses = 3,
          .sensor = {.patch = 3, .scales = 2},
          .glimpse_hidden = 5,
          .hidden = 7,
          .deviation = 0.3};
}

std::vector<Sampled> samples_of(const RecurrentAttention& model, const Tensor& x) {
  std::vector<Sampled> samples;
  const RecordSamples record(samples);
  model(x);
  return samples;
}

TEST(RecurrentAttention, DoesWhatEveryModelOfPicturesDoes) {
  RecurrentAttention model(small());
  test::expect_scores(model);
  test::expect_independent(model);
  EXPECT_TRUE(model.samples());
}

TEST(RecurrentAttention, LooksAtRandomInTrainingAndAtTheMeanOutside) {
  RecurrentAttention model(small());
  const Tensor x = test::some_pictures(4);
  default_generator() = Generator(1);
  const std::vector<float> first = model(x).to_vector<float>();
  EXPECT_NE(model(x).to_vector<float>(), first);
  default_generator() = Generator(1);
  EXPECT_EQ(model(x).to_vector<float>(), first) << "a function of the generator";
  model.eval();
  const Generator::State before = default_generator().state();
  const std::vector<float> mean = model(x).to_vector<float>();
  EXPECT_EQ(model(x).to_vector<float>(), mean);
  EXPECT_TRUE(default_generator().state() == before) << "nothing is drawn";
  EXPECT_TRUE(samples_of(model, x).empty());
}

TEST(RecurrentAttention, WeightsAreThePixelsOfEachGlimpse) {
  RecurrentAttention model(small());
  model.eval();
  // Zero weights and a bias: every glimpse is at the same place.
  const NoGrad no_grad;
  copy_into(model.location.weight.data, zeros(model.location.weight.data.shape()));
  copy_into(model.location.bias, full({2}, -0.4));
  std::vector<LayerWeights> weights;
  model(test::some_pictures(2), &weights);
  ASSERT_EQ(weights.size(), 1u);
  ASSERT_EQ(weights[0].cross.shape(), (Shape{2, 1, 3, 96}));
  const Tensor there = tanh(full({2, 2}, -0.4));
  const auto expected = glimpse_weights(there, 8, 12, small().sensor).to_vector<float>();
  const auto found = weights[0].cross.to_vector<float>();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i % 96]);
}

// The loss of the classes for fixed locations: every draw begins with the same stream.
TEST(RecurrentAttention, HasTheGradientOfItsLoss) {
  RecurrentAttention model(small());
  model.to(DType::f64);
  const Tensor x = cast_data(test::some_pictures(2), DType::f64);
  const Tensor labels = from_values<std::int64_t>({1, 4}, {2});
  std::vector<Tensor> learned;
  for (const NamedTensor& parameter : model.named_parameters()) {
    if (!parameter.name.starts_with("location") && !parameter.name.starts_with("baseline")) {
      learned.push_back(parameter.tensor);
    }
  }
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor>) {
        default_generator() = Generator(4);
        return cross_entropy(model(x), labels, {.reduction = Reduction::sum});
      },
      learned);
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(RecurrentAttention, LocationsLearnByReinforceAlone) {
  RecurrentAttention model(small());
  const Tensor x = test::some_pictures(3);
  const Tensor labels = from_values<std::int64_t>({0, 2, 4}, {3});
  const auto learns = [&](const Linear& layer) {
    const Tensor gradient = layer.weight.data.grad();
    return gradient.defined() && sum(abs(gradient)).item() > 0.0;
  };
  cross_entropy(model(x), labels).backward();
  EXPECT_TRUE(learns(model.what) && learns(model.where) && learns(model.core));
  EXPECT_FALSE(learns(model.location) || learns(model.baseline));
  model.zero_grad();

  SampledLoss sampled(model, {.reward = LabelReward::accuracy});
  ASSERT_TRUE(sampled.is_needed());
  std::vector<Sampled> samples;
  Tensor scores;
  {
    const RecordSamples record(samples);
    scores = model(x);
  }
  ASSERT_EQ(samples.size(), 3u) << "one a glimpse";
  EXPECT_EQ(samples[0].log_prob.shape(), (Shape{3, 1}));
  BatchLoss loss{.sum = scalar(0.0)};
  sampled.add_labels(samples, {}, {scores, labels}, loss);
  EXPECT_EQ(loss.sampled.samples, 9);
  loss.sum.backward();
  EXPECT_TRUE(learns(model.location) && learns(model.baseline));
  EXPECT_FALSE(learns(model.what) || learns(model.core)) << "states are read without gradient";
}

TEST(RecurrentAttention, ConfigsThatDoNotFit) {
  RecurrentAttentionConfig config = small();
  config.sensor.patch = 9;
  EXPECT_EQ(error_message([&] { RecurrentAttention model(config); }),
            "[recurrent_attention] patch = 9 for pictures of 8 x 12 pixels: give a smaller patch");
  config = small();
  config.deviation = 0.0;
  EXPECT_THAT(error_message([&] { RecurrentAttention model(config); }), HasSubstr("deviation"));
  EXPECT_THAT(error_message([] { RecurrentAttention model({}); }), HasSubstr("give all sizes"));
}

}  // namespace
}  // namespace heed::recurrent_attention_test
