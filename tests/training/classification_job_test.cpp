// Training of a classifier: losses, the position in the corpus, and validation by hand.
#include "heed/training/classification_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/classifier.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/reduce.h"
#include "tests/generation/tiny_translator.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::classification_job_test {
namespace {

using testing::ElementsAre;

constexpr const char* kLines =
    "glad\tgood day\nsad\tbad day\nglad\tgood good day\nsad\tbad bad bad day\nglad\tday\n"
    "sad\tbad\nglad\tgood\n";

std::shared_ptr<const Tokenizer> words() { return test::words("good bad day"); }

std::shared_ptr<const LabelledCorpus> corpus() {
  const TempDir dir;
  io::write_file(dir / "text", kLines);
  return std::make_shared<const LabelledCorpus>(read_labelled(dir / "text", *words()));
}

TextClassifier tiny() {
  Generator random(2);
  ClassifierConfig config{.encoder = {.vocabulary = words()->size(), .layers = 1}, .classes = 2};
  config.encoder.block.embed = 16;
  config.encoder.block.heads = 2;
  config.encoder.block.hidden = 20;
  return {std::make_unique<Classifier>(config, random), words(), {"glad", "sad"}};
}

ClassificationJob make() {
  return {tiny(), corpus(), corpus(), {.batching = {.batch_sentences = 2}}};
}

TEST(ClassificationJob, Teaches) {
  ClassificationJob job(tiny(), corpus(), nullptr, {});
  test::expect_teaches(job);
}

TEST(ClassificationJob, GoesBackToTheBit) {
  for (const int before : {0, 2, 9}) {
    ClassificationJob job = make(), other = make();
    test::expect_goes_back(job, other, before);
  }
}

TEST(ClassificationJob, NegativeLogLikelihoodIsTheLossWithoutSmoothing) {
  ClassificationJob plain(tiny(), corpus(), nullptr, {});
  ClassificationJob smooth(tiny(), corpus(), nullptr, {.label_smoothing = 0.3});
  plain.model().eval();
  smooth.model().eval();
  const BatchLoss a = plain.next(), b = smooth.next();
  EXPECT_EQ(a.counted, 7);
  EXPECT_NEAR(a.sum.item(), a.negative_log_likelihood, 1e-5);
  EXPECT_NEAR(b.negative_log_likelihood, a.negative_log_likelihood, 1e-5);
  EXPECT_GT(std::abs(b.sum.item() - b.negative_log_likelihood), 1e-4);
}

// The loss has the model's own term; the likelihood and validations have not.
TEST(ClassificationJob, AddsThePenaltyOfTheModel) {
  const auto with_hops = [](double penalty) {
    Generator random(2);
    ClassifierConfig config{.encoder = {.vocabulary = words()->size(), .layers = 1},
                            .classes = 2,
                            .hops = 3,
                            .penalty = penalty};
    config.encoder.block.embed = 16;
    config.encoder.block.heads = 2;
    config.encoder.block.hidden = 20;
    auto model = std::make_unique<Classifier>(config, random);
    model->eval();
    return TextClassifier{std::move(model), words(), {"glad", "sad"}};
  };
  const TextClassifier same = with_hops(0.5);
  const auto texts = corpus();
  double penalty = 0.0;
  for (std::int32_t i = 0; i < texts->size(); ++i) {
    const LabelledBatch batch = make_batch(*texts, {&i, 1});
    penalty += sum(same.model->judge({batch.tokens, batch.lengths}).penalty).item();
  }
  ClassificationJob with(with_hops(0.5), texts, texts, {}),
      without(with_hops(0.0), texts, texts, {});
  const BatchLoss a = with.next(), b = without.next();
  EXPECT_GT(penalty, 0.1);
  EXPECT_NEAR(a.sum.item(), b.sum.item() + penalty, 1e-4);
  EXPECT_NEAR(a.negative_log_likelihood, b.negative_log_likelihood, 1e-5);
  EXPECT_NEAR(with.validate()[0].value, without.validate()[0].value, 1e-6);
}

TEST(ClassificationJob, JudgesEachTextOnce) {
  ClassificationJob job = make();
  job.model().eval();
  const std::vector<Judgement> judgements = job.validate();
  const NoGrad no_grad;
  const auto& model = static_cast<const Classifier&>(job.model());
  const auto texts = corpus();
  double sum = 0.0, right = 0.0;
  for (std::int32_t i = 0; i < texts->size(); ++i) {
    const LabelledBatch batch = make_batch(*texts, {&i, 1});
    const Tensor scores = model({batch.tokens, batch.lengths});  // [1, C]
    sum += cross_entropy(scores, batch.labels).item();
    const auto values = scores.to_vector<float>();
    if ((values[1] > values[0]) == (texts->labels[static_cast<std::size_t>(i)] == 1)) right += 1.0;
  }
  EXPECT_NEAR(test::value_of(judgements, "loss"), sum / 7.0, 1e-5);
  EXPECT_DOUBLE_EQ(test::value_of(judgements, "accuracy"), 100.0 * right / 7.0);
  EXPECT_TRUE(judgements[1].higher_is_better);
}

TEST(ClassificationJob, WithoutValidationThereIsNoJudgement) {
  EXPECT_TRUE(ClassificationJob(tiny(), corpus(), nullptr, {}).validate().empty());
}

TEST(ClassificationJob, SavesAClassifier) {
  const TempDir dir;
  make().save(dir.path());
  EXPECT_THAT(load_text_classifier(dir.path()).labels, ElementsAre("glad", "sad"));
}

}  // namespace
}  // namespace heed::classification_job_test
