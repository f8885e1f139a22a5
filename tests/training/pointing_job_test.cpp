// Training of models that point: losses, the position in the data, validation by hand, and files
// that do not fit.
#include "heed/training/pointing_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/data/element_tasks.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/pointer_network.h"
#include "heed/training/make_job.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::pointing_job_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PointingJobTest : public testing::Test {
 protected:
  PointingJobTest() {
    config_.task = Task::point;
    config_.models.of<PointerNetwork>() = {.features = 2, .embed = 6, .hidden = 8};
    config_.train_sets = {write("train", 0, 20)};
    config_.valid_sets = {write("valid", 100, 9)};
    config_.batch_sentences = 4;
    config_.trainer.schedule = {.kind = Schedule::constant, .peak = 0.01, .warmup = 1};
  }
  std::string write(const std::string& name, std::int64_t first, std::int64_t count) {
    std::string text;
    for (std::int64_t i = first; i < first + count; ++i) {
      text += elements_line(make_element_set({.min_elements = 3, .max_elements = 6}, i)) + "\n";
    }
    io::write_file(dir_ / name, text);
    return (dir_ / name).string();
  }
  MadeJob make() { return make_job(config_, std::nullopt); }

  TempDir dir_;
  TrainConfig config_;
};

TEST_F(PointingJobTest, Teaches) {
  const MadeJob made = make();
  test::expect_teaches(*made.job);
  EXPECT_THAT(made.notes, ElementsAre(HasSubstr("20 sets of "), HasSubstr("9 sets of ")));
}

TEST_F(PointingJobTest, GoesBackToTheBit) {
  for (const int before : {0, 2, 7}) {
    const MadeJob job = make(), other = make();
    test::expect_goes_back(*job.job, *other.job, before);
  }
}

TEST_F(PointingJobTest, JudgesWholeSequences) {
  const MadeJob made = make();
  made.job->model().eval();
  const std::vector<Judgement> judgements = made.job->validate();
  const auto& model = dynamic_cast<const PointingModel&>(made.job->model());
  const ElementCorpus sets = read_elements(config_.valid_sets[0], {});
  double right = 0.0;
  for (std::int32_t i = 0; i < sets.size(); ++i) {
    const ElementBatch one = make_batch(sets, {&i, 1});
    const Pointed found = point(model, {one.elements, one.lengths})[0];
    right += std::ranges::equal(found.positions, sets.pointed[i]) ? 1.0 : 0.0;
  }
  EXPECT_NEAR(test::value_of(judgements, "accuracy"), 100.0 * right / 9.0, 1e-9);
  EXPECT_GT(test::value_of(judgements, "loss"), 0.0);
}

TEST_F(PointingJobTest, LearnsAndResumesToTheBit) {
  const TempDir parts;
  test::expect_resumes(config_, parts.path());
  const ElementPointer used = load_element_pointer(parts.path());
  EXPECT_FALSE(point(*used.model, {zeros({1, 3, 2})}).empty());
}

TEST_F(PointingJobTest, WrongFilesSayWhatIsExpected) {
  const auto error = [&] { return error_message([&] { make(); }); };
  config_.train_sets = {(dir_ / "text").string()};
  io::write_file(dir_ / "text", "a dog runs\n");
  EXPECT_THAT(error(), HasSubstr("text:1 has \"a\" where a number is expected"));
  config_.on_bad = OnBad::skip;
  EXPECT_THAT(error(), HasSubstr("there is no set in it"));
  config_.on_bad = OnBad::stop;
  config_.models.of<PointerNetwork>().each_once = true;
  io::write_file(dir_ / "text", "1 2 3 4 output 1 1\n");
  EXPECT_THAT(error(), HasSubstr("points at element 1 twice"));
}

}  // namespace
}  // namespace heed::pointing_job_test
