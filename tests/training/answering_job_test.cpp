// The job of questions about stories: losses, positions, noise, the linear start, stories that are
// held out, exact resuming, wrong files.
#include "heed/training/answering_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/memory_network.h"
#include "heed/training/make_job.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::answering_job_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class AnsweringJobTest : public testing::Test {
 protected:
  AnsweringJobTest() {
    config_.task = Task::answer;
    config_.models.of<MemoryNetwork>() = {
        .embed = 6, .hops = 2, .sentences = 5, .linear_start = 1, .noise = 0.5};
    config_.train_sets = {write("where", "went to", 4), write("what", "took", 3)};
    config_.valid_sets = {write("valid", "went to", 2)};
    config_.batch_sentences = 4;
    config_.trainer.schedule = {.kind = Schedule::constant, .peak = 0.05, .warmup = 1};
  }
  // Stories of two to six sentences with two questions each.
  std::string write(const std::string& name, const std::string& verb, int stories) {
    constexpr const char* kNames[] = {"Mary", "John", "Sandra"};
    constexpr const char* kThings[] = {"garden", "kitchen", "milk", "hall"};
    std::string text;
    for (int i = 0; i < stories; ++i) {
      int line = 1;
      for (int part = 0; part < 2; ++part) {
        for (int k = 0; k < 1 + i % 3; ++k) {
          text += fmt::format("{} {} {} the {}.\n", line++, kNames[(i + k + part) % 3], verb,
                              kThings[(i + 2 * k) % 4]);
        }
        text += fmt::format("{} Where is {}?\t{}\t1\n", line++, kNames[(i + part) % 3],
                            kThings[(i + part) % 4]);
      }
    }
    io::write_file(dir_ / name, text);
    return (dir_ / name).string();
  }
  MadeJob make() { return make_job(config_, std::nullopt); }

  TempDir dir_;
  TrainConfig config_;
};

TEST_F(AnsweringJobTest, Teaches) {
  const MadeJob made = make();
  test::expect_teaches(*made.job);
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("where: 8 questions about "),
                                      HasSubstr("what: 6 questions about "),
                                      HasSubstr("valid: 4 questions about ")));
}

TEST_F(AnsweringJobTest, GoesBackToTheBit) {
  for (const int before : {0, 2, 5}) {
    const MadeJob job = make(), other = make();
    test::expect_goes_back(*job.job, *other.job, before);
  }
}

// The softmax over the memory begins with the second epoch of 14 questions.
TEST_F(AnsweringJobTest, TheFirstEpochIsLinear) {
  config_.models.of<MemoryNetwork>().noise = 0.0;
  const MadeJob made = make();
  config_.models.of<MemoryNetwork>().linear_start = 0;
  const MadeJob other = make();
  made.job->model().train();
  other.job->model().train();
  const std::vector<double> linear = test::losses_of(*made.job, 8);
  const std::vector<double> usual = test::losses_of(*other.job, 8);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(linear[i] == usual[i], i >= 4) << i;
}

TEST_F(AnsweringJobTest, LastStoriesAreHeldOut) {
  config_.valid_sets.clear();
  config_.valid_share = 0.4;  // of 8 and 6 questions: 3 and 2, and the rest of their stories
  const MadeJob made = make();
  made.job->model().eval();
  std::int64_t questions = 0;
  while (made.job->position().epoch == 0) questions += made.job->next().counted;
  EXPECT_EQ(questions, 4 + 4);
  EXPECT_EQ(made.job->validate().size(), 2u);
  config_.valid_share = 1.0;
  EXPECT_THAT(error_message([&] { make(); }), HasSubstr("none is left to train on"));
  config_.valid_share = 0.0;
  EXPECT_TRUE(make().job->validate().empty());
}

TEST_F(AnsweringJobTest, JudgesAnswers) {
  const MadeJob made = make();
  made.job->model().eval();
  made.job->save(dir_.path());
  const StoryAnswerer answerer = load_story_answerer(dir_.path());
  double right = 0.0;
  BadLines bad;
  read_stories(config_.valid_sets[0], OnBad::stop, bad, [&](const StoryQuestion& question) {
    right += answer_questions(answerer, {&question, 1})[0].answer == question.answer ? 1.0 : 0.0;
  });
  EXPECT_NEAR(test::value_of(made.job->validate(), "accuracy"), 25.0 * right, 1e-9);
}

// Noise and linear start depend on the position only.
TEST_F(AnsweringJobTest, LearnsAndResumesToTheBit) {
  const TempDir parts;
  test::expect_resumes(config_, parts.path());
}

TEST_F(AnsweringJobTest, WrongFilesSayWhatIsExpected) {
  const auto error = [&] { return error_message([&] { make(); }); };
  config_.train_sets = {(dir_ / "text").string()};
  io::write_file(dir_ / "text", "a dog runs\n");
  EXPECT_THAT(error(), HasSubstr("text:1 begins without a number"));
  config_.on_bad = OnBad::skip;
  EXPECT_THAT(error(), HasSubstr("there is no question in it"));
  config_.on_bad = OnBad::stop;
  io::write_file(dir_ / "text", "1 a dog runs\n2 who runs?\n");
  EXPECT_THAT(error(), HasSubstr("text:2 has a question without an answer"));
}

}  // namespace
}  // namespace heed::answering_job_test
