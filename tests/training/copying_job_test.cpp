// Training of models of algorithmic tasks: losses by hand, the position in the data, wrong bits,
// and files that do not fit.
#include "heed/training/copying_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/data/bit_tasks.h"
#include "heed/generation/model_folder.h"
#include "heed/io/file.h"
#include "heed/models/turing_machine.h"
#include "heed/training/make_job.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/job_case.h"

namespace heed::copying_job_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CopyingJobTest : public testing::Test {
 protected:
  CopyingJobTest() {
    config_.task = Task::copy;
    config_.models.of<TuringMachine>().machine = {.slots = 9, .width = 4, .hidden = 8};
    config_.train_sets = {write("train", 0, 20)};
    config_.valid_sets = {write("valid", 100, 9)};
    config_.batch_sentences = 4;
    config_.trainer.schedule = {.kind = Schedule::constant, .peak = 0.01, .warmup = 1};
  }
  std::string write(const std::string& name, std::int64_t first, std::int64_t count) {
    std::string text;
    for (std::int64_t i = first; i < first + count; ++i) {
      text += bits_line(make_bit_sequence({.bits = 3, .max_length = 5}, i)) + "\n";
    }
    io::write_file(dir_ / name, text);
    return (dir_ / name).string();
  }
  MadeJob make() { return make_job(config_, std::nullopt); }

  TempDir dir_;
  TrainConfig config_;
};

TEST_F(CopyingJobTest, Teaches) {
  const MadeJob made = make();
  test::expect_teaches(*made.job);
  EXPECT_THAT(made.notes[0], HasSubstr("20 sequences, 4 bits to read, 3 to write"));
}

TEST_F(CopyingJobTest, GoesBackToTheBit) {
  for (const int before : {0, 2, 7}) {
    const MadeJob job = make(), other = make();
    test::expect_goes_back(*job.job, *other.job, before);
  }
}

TEST_F(CopyingJobTest, JudgesEveryBit) {
  const MadeJob made = make();
  made.job->model().eval();
  const std::vector<Judgement> judgements = made.job->validate();
  const auto& model = dynamic_cast<const BitModel&>(made.job->model());
  const BitCorpus corpus = read_bits(config_.valid_sets[0]);
  const NoGrad no_grad;
  double loss = 0.0, bits = 0.0, wrong = 0.0, right = 0.0;
  for (std::int32_t i = 0; i < corpus.size(); ++i) {
    const BitSequence& one = corpus.sequences[static_cast<std::size_t>(i)];
    const std::vector<float> z = model(make_batch(corpus, {&i, 1}).input).to_vector<float>();
    const double before = wrong;
    for (std::size_t t = 0; t < one.output.size(); ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double score = z[(one.input.size() + t) * 3 + k];
        const bool is_one = one.output[t][k] == '1';
        loss += std::log1p(std::exp(is_one ? -score : score));
        wrong += (score > 0) == is_one ? 0.0 : 1.0;
        bits += 1.0;
      }
    }
    right += wrong == before ? 1.0 : 0.0;
  }
  EXPECT_NEAR(test::value_of(judgements, "loss"), loss / bits, 1e-6);
  EXPECT_NEAR(test::value_of(judgements, "errors"), wrong / 9.0, 1e-9);
  EXPECT_NEAR(test::value_of(judgements, "accuracy"), 100.0 * right / 9.0, 1e-9);
}

TEST_F(CopyingJobTest, LearnsAndResumesToTheBit) {
  config_.trainer.ema = 0.5;
  const TempDir parts;
  test::expect_resumes(config_, parts.path());
  EXPECT_EQ(load_bit_machine(parts.path()).model->inputs(), 4);
}

TEST_F(CopyingJobTest, WrongFilesSayWhatIsExpected) {
  const auto error = [&] { return error_message([&] { make(); }); };
  config_.valid_sets = {(dir_ / "other").string()};
  io::write_file(dir_ / "other", "01 output 1\n");
  EXPECT_THAT(error(), HasSubstr("other:1 has the vector \"01\" of 2 bits: there must be 4"));
  io::write_file(dir_ / "other", "a dog\n");
  EXPECT_THAT(error(), HasSubstr("other:1 has \"a\" where a vector of 0 and 1 is expected"));
  config_.on_bad = OnBad::skip;
  EXPECT_THAT(error(), HasSubstr("there is no sequence in it"));
}

}  // namespace
}  // namespace heed::copying_job_test
