// Training of models of pictures: losses, the position in the set, validation by hand, and running
// averages that an update which is not made leaves alone.
#include "heed/training/recognition_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/models/recurrent_attention.h"
#include "heed/models/resnet.h"
#include "heed/training/saved_buffers.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::recognition_job_test {
namespace {

// Twelve pictures of 8 x 8 pixels: bright at the left, or bright at the right.
std::shared_ptr<const PictureSet> halves() {
  auto set = std::make_shared<PictureSet>();
  set->shape = {1, 8, 8};
  set->names = {"left", "right"};
  for (int i = 0; i < 12; ++i) {
    set->labels.push_back(i % 2);
    for (int place = 0; place < 64; ++place) {
      const bool is_bright = (place % 8 < 4) == (i % 2 == 0);
      set->bytes.push_back(static_cast<std::uint8_t>((is_bright ? 200 : 20) + i + place % 5));
    }
  }
  return set;
}

PictureClassifier tiny() {
  Generator generator(5);
  const ResNetConfig config{
      .sizes = {.picture = {1, 8, 8}, .classes = 2}, .stem = 4, .blocks = 1, .attention = {}};
  return {std::make_unique<ResNet>(config, generator), {"left", "right"}, scale_of(*halves())};
}

RecognitionJob make() {
  return {tiny(), halves(), halves(), {.stream = {.augmentation = {.shift = 1}, .batch = 5}}};
}

TEST(RecognitionJob, Teaches) {
  RecognitionJob job = make();
  job.model().train();
  const BatchLoss loss = job.next();
  EXPECT_EQ(loss.counted, 5);
  EXPECT_NEAR(loss.sum.item(), loss.negative_log_likelihood, 1e-5);
  loss.sum.backward();
  for (const NamedTensor& parameter : job.model().named_parameters()) {
    if (parameter.tensor.tracks_grad()) {
      EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    }
  }
}

TEST(RecognitionJob, GoesBackToTheBit) {
  for (const int before : {0, 2, 7}) {
    RecognitionJob job = make(), other = make();
    test::expect_goes_back(job, other, before);
  }
}

TEST(RecognitionJob, JudgesEveryPictureOnce) {
  RecognitionJob job = make();
  job.model().eval();
  const std::vector<Judgement> judgements = job.validate();
  ASSERT_EQ(judgements.size(), 2u);
  EXPECT_EQ(judgements[1].name, "accuracy");
  const PictureClassifier classifier = tiny();
  classifier.model->eval();
  const auto set = halves();
  double right = 0.0;
  for (std::int64_t i = 0; i < set->size(); ++i) {
    const auto bytes = set->picture(i);
    const std::vector<Picture> one = {{set->shape, {bytes.begin(), bytes.end()}}};
    const std::vector<float> p = recognise(classifier, one)[0];
    right += (p[1] > p[0]) == (set->labels[static_cast<std::size_t>(i)] == 1) ? 1.0 : 0.0;
  }
  EXPECT_NEAR(judgements[1].value, 100.0 * right / 12.0, 1e-9);
}

// Locations are draws of the default generator, which a checkpoint keeps.
TEST(RecognitionJob, GlimpsesAreRewardedAndGoBackToTheBit) {
  const auto glimpsing = [] {
    Generator generator(5);
    const RecurrentAttentionConfig config{.sizes = {.picture = {1, 8, 8}, .classes = 2},
                                          .glimpses = 2,
                                          .sensor = {.patch = 4},
                                          .glimpse_hidden = 6,
                                          .hidden = 8};
    PictureClassifier classifier{std::make_unique<RecurrentAttention>(config, generator),
                                 {"left", "right"},
                                 scale_of(*halves())};
    return RecognitionJob(std::move(classifier), halves(), halves(),
                          {.stream = {.batch = 5}, .sampled = {.reward = LabelReward::accuracy}});
  };
  RecognitionJob job = glimpsing(), other = glimpsing();
  job.model().train();
  other.model().train();
  default_generator() = Generator(8);
  const BatchLoss first = job.next();
  EXPECT_EQ(first.sampled.samples, 10) << "two glimpses of five pictures";
  EXPECT_EQ(job.state().baseline_updates, 1);
  first.sum.backward();
  for (const NamedTensor& parameter : job.model().named_parameters()) {
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
  }
  const Generator::State random = default_generator().state();
  const std::vector<double> losses = test::losses_of(job, 3);
  EXPECT_NE(losses[0], first.sum.item());
  other.seek({0, 1});
  other.restore({.baseline = 0.5, .baseline_updates = 1});
  default_generator().restore(random);
  EXPECT_EQ(test::losses_of(other, 3), losses);
}

TEST(RecognitionJob, FoldersHoldTheAveragesToo) {
  RecognitionJob job = make();
  job.model().train();
  job.next();
  const TempDir dir;
  job.save(dir.path());
  const PictureClassifier loaded = load_picture_classifier(dir.path());
  EXPECT_EQ(loaded.labels, (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(loaded.scale.mean, tiny().scale.mean);
  const auto ours = job.model().buffers(), theirs = loaded.model->buffers();
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].tensor.to_vector<float>(), theirs[i].tensor.to_vector<float>());
  }
}

TEST(SavedBuffers, AreRestored) {
  RecognitionJob job = make();
  job.model().train();
  SavedBuffers saved(job.model());
  saved.save();
  const std::vector<float> before = job.model().buffers()[0].tensor.to_vector<float>();
  job.next();
  EXPECT_NE(job.model().buffers()[0].tensor.to_vector<float>(), before);
  saved.restore();
  EXPECT_EQ(job.model().buffers()[0].tensor.to_vector<float>(), before);
}

}  // namespace
}  // namespace heed::recognition_job_test
