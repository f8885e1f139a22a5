// Training of captioners: losses, samples of attention, the position in the set, validation.
#include "heed/training/captioning_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/training/make_job.h"
#include "tests/generation/tiny_captioner.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::captioning_job_test {
namespace {

using test::tiny_captioner;
using testing::HasSubstr;

CaptionedPictures data() {
  CaptionedPictures data{.pictures = PictureSet{.shape = {1, 8, 8}}, .captions = {}};
  const char* const texts[] = {"a dog runs", "the cat", "a cat runs", "the dog"};
  for (int i = 0; i < 10; ++i) {
    data.pictures.labels.push_back(i);
    for (int p = 0; p < 64; ++p) {
      data.pictures.bytes.push_back(static_cast<std::uint8_t>((17 * i + p * (i % 4 + 1)) % 256));
    }
    data.captions.emplace_back(texts[i % 4]);
  }
  return data;
}

std::shared_ptr<const CaptionCorpus> corpus() {
  return std::make_shared<const CaptionCorpus>(data(), *tiny_captioner().tokenizer);
}

CaptioningJob make(const std::string& attention = "bahdanau") {
  return {tiny_captioner(attention), corpus(), corpus(), {.stream = {.batch = 4}}};
}

TEST(CaptioningJob, Teaches) {
  CaptioningJob job = make();
  job.model().train();
  const BatchLoss loss = job.next();
  EXPECT_EQ(loss.source_tokens, 4) << "pictures";
  EXPECT_EQ(loss.target_tokens, loss.counted);
  EXPECT_NEAR(loss.sum.item(), loss.negative_log_likelihood, 1e-4);
  loss.sum.backward();
  for (const NamedTensor& parameter : job.model().named_parameters()) {
    if (parameter.tensor.tracks_grad()) {
      EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.name;
    }
  }
}

TEST(CaptioningJob, GoesBackToTheBit) {
  for (const int before : {0, 2, 5}) {
    CaptioningJob job = make(), other = make();
    test::expect_goes_back(job, other, before);
  }
}

TEST(CaptioningJob, TargetsAreTheCaptionsOfTheirPictures) {
  const auto all = corpus();
  const PictureCaptioner captioner = tiny_captioner();
  const SpecialTokens special = captioner.tokenizer->special();
  const TargetBatch batch = all->targets(from_values<std::int64_t>({1, 0}, {2}), special);
  EXPECT_EQ(batch.lengths.to_vector<std::int64_t>(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(batch.tokens, 7);
  const auto cat = captioner.tokenizer->encode("the cat");
  EXPECT_EQ(batch.target.to_vector<std::int64_t>()[0], special.begin);
  EXPECT_EQ(batch.target.to_vector<std::int64_t>()[1], cat[0]);
  EXPECT_EQ(batch.expected.to_vector<std::int64_t>()[2], special.end);
  EXPECT_EQ(batch.expected.to_vector<std::int64_t>()[3], kIgnored);
}

TEST(CaptioningJob, SamplesOfAttentionAreRewarded) {
  for (const char* attention : {"hard score=additive", "gumbel score=additive"}) {
    CaptioningJob job = make(attention);
    job.model().train();
    const BatchLoss loss = job.next();
    EXPECT_EQ(loss.sampled.samples, loss.target_tokens) << "a cell for each word and the end";
    EXPECT_LT(loss.sampled.reward, 0.0);
    loss.sum.backward();
    for (const NamedTensor& parameter : job.model().named_parameters()) {
      if (!parameter.name.starts_with("decoder.attention")) continue;
      EXPECT_TRUE(parameter.tensor.grad().defined()) << attention << " " << parameter.name;
    }
  }
}

TEST(CaptioningJob, JudgesEveryPictureOnce) {
  CaptioningJob job = make();
  job.model().eval();
  const auto judgements = job.validate();
  ASSERT_EQ(judgements.size(), 3u);
  EXPECT_GT(test::value_of(judgements, "loss"), 0.0);
  const PictureCaptioner captioner = tiny_captioner();
  const auto all = corpus();
  double right = 0.0;
  for (std::int32_t i = 0; i < 10; ++i) {
    const PictureBatch one = make_batch(*all->pictures, {&i, 1}, captioner.scale);
    right += caption(captioner, one.pictures)[0].text == all->captions[static_cast<std::size_t>(i)];
  }
  EXPECT_NEAR(test::value_of(judgements, "accuracy"), 10.0 * right, 1e-9);
}

TEST(CaptioningJob, AConfigMakesIt) {
  const TempDir dir;
  write_idx_pictures(data().pictures, dir / "set.idx");
  std::string text;
  for (const std::string& caption : data().captions) text += caption + "\n";
  io::write_file(dir / "set.txt", text);
  TrainConfig config;
  config.task = Task::caption;
  config.vocabulary.kind = VocabularyKind::words;
  config.vocabulary.size = 0;
  config.trainer.stop_on = "loss";
  config.train_sets = {(dir / "set.idx").string(), (dir / "set.txt").string()};
  const MadeJob made = make_job(config, {});
  EXPECT_THAT(made.notes[0], HasSubstr("10 pictures of 8 x 8 pixels with captions"));
  EXPECT_EQ(made.job->next().source_tokens, 10);
  config.train_sets.pop_back();
  EXPECT_THAT(error_message([&] { make_job(config, {}); }),
              HasSubstr("1 file for captions: give two"));
}

}  // namespace
}  // namespace heed::captioning_job_test
