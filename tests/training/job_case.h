// Helpers of the tests of jobs: a loss that reaches every parameter, a position in the stream that
// can be returned to, and runs that resume to the bit.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/training/job.h"
#include "heed/training/make_job.h"
#include "heed/training/trainer.h"
#include "tests/models/model_case.h"
#include "tests/support/temp_dir.h"

namespace heed::test {

/// The values of the next n losses.
inline std::vector<double> losses_of(Job& job, int n) {
  std::vector<double> losses;
  for (int i = 0; i < n; ++i) losses.push_back(job.next().sum.item());
  return losses;
}

/// The next loss reaches every parameter and counts what it should.
inline void expect_teaches(Job& job) {
  job.model().train();
  const BatchLoss loss = job.next();
  EXPECT_GT(loss.counted, 0);
  EXPECT_GT(loss.source_tokens, 0);
  EXPECT_GT(loss.target_tokens, 0);
  EXPECT_GT(loss.negative_log_likelihood, 0.0);
  expect_learns(job.model(), loss.sum);
}

/// Two equal jobs: from the position of one, both continue alike. Dropout depends on the generator,
/// not on the stream, so the models are put into evaluation mode.
inline void expect_goes_back(Job& job, Job& other, int before) {
  job.model().eval();
  other.model().eval();
  losses_of(job, before);
  const StreamPosition there = job.position();
  const double share = job.epoch_share();
  EXPECT_GE(share, 0.0);
  EXPECT_LE(share, 1.0);
  const std::vector<double> losses = losses_of(job, 4);
  EXPECT_FALSE(job.position() == there);
  EXPECT_NE(losses[0], losses[1]) << "batches must differ, or their order cannot be seen";
  job.seek(there);
  EXPECT_TRUE(job.position() == there);
  EXPECT_EQ(job.epoch_share(), share);
  EXPECT_EQ(losses_of(job, 4), losses);
  other.seek(there);
  EXPECT_EQ(losses_of(other, 4), losses);
}

/// Trains a job in a folder up to `after`; returns all parameters.
inline std::vector<float> train_in(const std::filesystem::path& folder, TrainConfig config,
                                   const std::string& after, bool resume) {
  config.trainer.after = after;
  const Checkpoints checkpoints(folder, 5);
  const MadeJob made = make_job(config, resume ? checkpoints.last() : std::nullopt);
  Trainer run(*made.job, config.trainer, {.folder = folder});
  EXPECT_EQ(run.resume(), resume);
  run.run();
  std::vector<float> values;
  for (const Tensor& parameter : made.job->model().parameters()) {
    const std::vector<float> own = parameter.to_vector<float>();
    values.insert(values.end(), own.begin(), own.end());
  }
  return values;
}

/// A run in `folder` that is interrupted and resumed ends with the bits of one that is not.
inline void expect_resumes(TrainConfig config, const std::filesystem::path& folder) {
  config.trainer.valid_freq = config.trainer.save_freq = "3u";
  const TempDir whole;
  const std::vector<float> at_once = train_in(whole.path(), config, "7u", false);
  train_in(folder, config, "3u", false);
  EXPECT_EQ(train_in(folder, config, "7u", true), at_once);
}

/// The value of the judgement of a name.
inline double value_of(const std::vector<Judgement>& judgements, const std::string& name) {
  for (const Judgement& judgement : judgements) {
    if (judgement.name == name) return judgement.value;
  }
  ADD_FAILURE() << "validation says nothing of " << name;
  return 0.0;
}

}  // namespace heed::test
