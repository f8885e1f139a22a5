// The job of cloze questions: losses, positions, accuracy, exact resuming, wrong files.
#include "heed/training/reading_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/reader.h"
#include "heed/training/make_job.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::reading_job_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ReadingJobTest : public testing::Test {
 protected:
  ReadingJobTest() {
    config_.task = Task::read;
    config_.models.of<Reader>() = {.embed = 6, .hidden = 4, .dropout = 0.2};
    config_.train_sets = {write("train", 9), write("more", 3)};
    config_.valid_sets = {write("valid", 5)};
    config_.batch_sentences = 4;
    config_.trainer.schedule = {.kind = Schedule::constant, .peak = 0.01, .warmup = 1};
  }
  // Passages of three to nine words, two of which may answer.
  std::string write(const std::string& name, int count) {
    constexpr const char* kWords[] = {"red", "dog", "runs", "fast", "sun", "cat", "tree"};
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += "1 |||";
      for (int k = 0; k < 3 + i % 7; ++k) text += fmt::format(" {}", kWords[(i + k * k) % 7]);
      text += fmt::format("\n2 ||| the XXXXX {} ||| {}\n", kWords[(i + 3) % 7], kWords[i % 7]);
    }
    io::write_file(dir_ / name, text);
    return (dir_ / name).string();
  }
  MadeJob make() { return make_job(config_, std::nullopt); }

  TempDir dir_;
  TrainConfig config_;
};

TEST_F(ReadingJobTest, Teaches) {
  for (const ReaderAttention attention : {ReaderAttention::over_attention, ReaderAttention::sum}) {
    config_.models.of<Reader>().attention = attention;
    const MadeJob made = make();
    test::expect_teaches(*made.job);
    EXPECT_THAT(made.notes, ElementsAre(HasSubstr("train: 9 questions"), HasSubstr("3 questions"),
                                        HasSubstr("valid: 5 questions")));
  }
}

TEST_F(ReadingJobTest, GoesBackToTheBit) {
  for (const int before : {0, 2, 4}) {
    const MadeJob job = make(), other = make();
    test::expect_goes_back(*job.job, *other.job, before);
  }
}

TEST_F(ReadingJobTest, JudgesWords) {
  const MadeJob made = make();
  made.job->model().eval();
  made.job->save(dir_.path());
  const ClozeReader reader = load_cloze_reader(dir_.path());
  double right = 0.0, loss = 0.0;
  BadLines bad;
  read_cloze(config_.valid_sets[0], OnBad::stop, bad, [&](const ClozeQuestion& question) {
    const FoundWord found = read_questions(reader, {&question, 1})[0];
    right += found.word == question.answer ? 1.0 : 0.0;
    loss += found.word == question.answer ? -std::log(found.probability) : 0.0;
  });
  const std::vector<Judgement> judgements = made.job->validate();
  EXPECT_NEAR(test::value_of(judgements, "accuracy"), 20.0 * right, 1e-9);
  EXPECT_GE(test::value_of(judgements, "loss"), loss / 5.0 - 1e-6);
}

TEST_F(ReadingJobTest, ResumesWithTheModelOfItsCheckpoint) {
  const MadeJob made = make();
  made.job->save(dir_.path());
  const MadeJob again = make_job(config_, dir_.path());
  const auto bits = [](const MadeJob& job) {
    return job.job->model().parameters()[0].to_vector<float>();
  };
  EXPECT_EQ(bits(again), bits(made));
  config_.models.of<Reader>().attention = ReaderAttention::sum;
  EXPECT_THAT(error_message([&] { make_job(config_, dir_.path()); }),
              HasSubstr("reader.attention was"));
}

TEST_F(ReadingJobTest, WrongFilesSayWhatIsExpected) {
  const auto error = [&] { return error_message([&] { make(); }); };
  config_.max_length = 2;
  EXPECT_THAT(error(), HasSubstr("there is no question in it"));
  config_.max_length = 0;
  config_.train_sets = {(dir_ / "text").string()};
  io::write_file(dir_ / "text", "a dog runs\n");
  EXPECT_THAT(error(), HasSubstr("text:1 has no number and 1 columns"));
  config_.on_bad = OnBad::skip;
  EXPECT_THAT(error(), HasSubstr("there is no question in it"));
  config_.on_bad = OnBad::stop;
  io::write_file(dir_ / "text", "1 ||| a dog\n2 ||| XXXXX ||| cat\n");
  EXPECT_THAT(error(),
              HasSubstr("text:2 has the answer \"cat\", which is not a word of its passage"));
  io::write_file(dir_ / "characters", "{\"heed\": 1}");
  config_.trainer.stop_on = "bleu";
  EXPECT_THAT(error(), HasSubstr("validation gives loss, accuracy"));
}

}  // namespace
}  // namespace heed::reading_job_test
