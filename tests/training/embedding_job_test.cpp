// Sentence encoders by contrast: the loss is the plain formula, it falls, and vectors of texts that
// belong together become similar.
#include "heed/training/embedding_job.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/sentence_encoder.h"
#include "heed/training/make_job.h"
#include "heed/training/run.h"
#include "tests/generation/hf_encoder_folder.h"
#include "tests/support/op_case.h"
#include "tests/support/temp_dir.h"

namespace heed::embedding_job_test {
namespace {

class EmbeddingJobTest : public testing::Test {
 protected:
  EmbeddingJobTest() {
    std::string first, second;
    for (const std::string word : {"a", "dog", "runs", "cat", "sleeps", "the"}) {
      first += word + " a\n";
      second += "the " + word + "\n";
    }
    io::write_file(dir_ / "first", first);
    io::write_file(dir_ / "second", second);
    config_.task = Task::embed;
    config_.start_from = hub_.path().string();
    config_.train_sets = {(dir_ / "first").string(), (dir_ / "second").string()};
    config_.valid_sets = config_.train_sets;
    config_.batch_sentences = 6;
    config_.trainer.schedule.kind = Schedule::constant;
    config_.trainer.schedule.warmup = 0;
    config_.trainer.schedule.peak = 0.003;
    config_.trainer.save_freq = "600u";
    config_.trainer.valid_freq = "600u";
  }
  test::HfEncoderFolder hub_{"bert"};
  TempDir dir_;
  TrainConfig config_;
};

// The loss written out with loops.
double plain_loss(const EncodingModel& model, const TextPairBatch& batch, double scale) {
  const NoGrad no_grad;
  const auto vectors = [&](const PaddedRows& rows) {
    return model.vectors(model.states({rows.tokens, rows.lengths}), rows.lengths)
        .to_vector<float>();
  };
  const std::vector<float> a = vectors(batch.first), b = vectors(batch.second);
  const auto B = static_cast<std::size_t>(batch.first.lengths.numel());
  const std::size_t E = a.size() / B;
  const auto cosine = [&](std::size_t i, std::size_t j) {
    double ab = 0.0, aa = 0.0, bb = 0.0;
    for (std::size_t e = 0; e < E; ++e) {
      ab += a[i * E + e] * b[j * E + e];
      aa += a[i * E + e] * a[i * E + e];
      bb += b[j * E + e] * b[j * E + e];
    }
    return ab / std::sqrt(aa * bb);
  };
  double loss = 0.0;
  for (std::size_t i = 0; i < B; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < B; ++j) sum += std::exp(scale * cosine(i, j));
    loss += std::log(sum) - scale * cosine(i, i);
  }
  return loss;
}

TEST_F(EmbeddingJobTest, TheLossIsTheFormula) {
  const MadeJob made = make_job(config_, std::nullopt);
  made.job->model().eval();
  const BatchLoss loss = made.job->next();
  const TextEmbedder embedder = load_text_embedder(hub_.path());
  constexpr SpecialTokens kSpecial{.padding = 0};
  ParallelCorpus corpus({kSpecial, kSpecial}, {.end_source = false});
  for (std::int32_t word = 5; word <= 10; ++word) {  // [CLS] word a [SEP], [CLS] the word [SEP]
    corpus.add(std::vector<std::int32_t>{3, word, 5, 4}, std::vector<std::int32_t>{3, 10, word, 4});
  }
  const std::vector<std::int32_t> all = {0, 1, 2, 3, 4, 5};
  const double expected = plain_loss(*embedder.model, make_text_pairs(corpus, all), 20.0);
  EXPECT_EQ(loss.counted, 6);
  EXPECT_NEAR(loss.sum.item(), expected, 1e-4 * expected);
}

TEST_F(EmbeddingJobTest, TextsThatBelongTogetherBecomeSimilar) {
  config_.model = (dir_ / "out").string();
  config_.trainer.after = "600u";
  const MadeJob before = make_job(config_, std::nullopt);
  before.job->model().eval();
  const auto untrained = before.job->validate();
  run_training({.config = config_});
  config_.start_from = config_.model;
  const MadeJob after = make_job(config_, std::nullopt);
  after.job->model().eval();
  const auto trained = after.job->validate();
  ASSERT_EQ(trained[1].name, "accuracy");
  EXPECT_LT(trained[0].value, 0.7 * untrained[0].value);
  EXPECT_GT(trained[1].value, untrained[1].value);
}

}  // namespace
}  // namespace heed::embedding_job_test
