// The trainer: what it resumes to, when it stops, what it keeps and what it skips.
#include "heed/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/interrupt.h"
#include "heed/base/random.h"
#include "heed/nn/checkpoint_file.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/toy_job.h"

namespace heed::trainer_test {
namespace {

using test::ToyJob;
using testing::HasSubstr;

TrainerConfig quick(std::string after) {
  TrainerConfig config;
  config.after = std::move(after);
  config.valid_freq = "10u";
  config.save_freq = "5u";
  config.schedule = {.kind = Schedule::constant, .peak = 0.05, .warmup = 1};
  return config;
}

std::vector<float> parameters_of(const ToyJob& job) {
  std::vector<float> all;
  for (const Tensor& parameter : job.network.parameters()) {
    const auto values = parameter.to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

struct Seen : TrainingWatcher {
  void updated(const UpdateReport& report) override { updates.push_back(report); }
  void validated(const ValidationReport& report) override { validations.push_back(report); }
  void saved(const std::filesystem::path& folder) override { folders.push_back(folder); }

  std::vector<UpdateReport> updates;
  std::vector<ValidationReport> validations;
  std::vector<std::filesystem::path> folders;
};

// Trains in one go, or in several of which each is a new process as far as the trainer knows.
std::vector<float> train(const TempDir& dir, const TrainerConfig& config,
                         std::vector<std::int64_t> stops, Seen* seen = nullptr) {
  stops.push_back(std::numeric_limits<std::int64_t>::max());
  std::vector<float> result;
  for (const std::int64_t stop : stops) {
    ToyJob job;
    default_generator() = Generator(9);
    const Trainer* running = nullptr;
    Trainer trainer(
        job, config,
        {.folder = dir.path(), .interrupted = [&] { return running->progress().updates >= stop; }},
        seen);
    running = &trainer;
    trainer.resume();
    trainer.run();
    result = parameters_of(job);
  }
  return result;
}

TEST(Trainer, ResumesToTheBit) {
  const TempDir straight, stopped, again;
  const TrainerConfig config = quick("43u");
  const std::vector<float> expected = train(straight, config, {});
  EXPECT_EQ(train(stopped, config, {1, 7, 20, 41}), expected);
  TrainerConfig other = config;
  other.seed = 3;  // of the job's own making; the trainer draws nothing
  EXPECT_EQ(train(again, other, {}), expected);
}

// The parameters of a checkpoint's file.
std::vector<float> saved_parameters(const std::filesystem::path& file) {
  ToyJob job;
  load_parameters(job.network, file);
  return parameters_of(job);
}

TEST(Trainer, SavesAndValidatesTheMovingAverage) {
  const TempDir plain, averaged, stopped;
  TrainerConfig config = quick("43u");
  Seen without, with;
  const std::vector<float> expected = train(plain, config, {}, &without);
  config.ema = 0.9;
  EXPECT_EQ(train(averaged, config, {}, &with), expected) << "training itself must not change";
  const std::filesystem::path last = averaged / "checkpoint_43";
  EXPECT_EQ(saved_parameters(last / kParametersFile), expected);
  const std::vector<float> average = saved_parameters(last / "model.safetensors");
  EXPECT_NE(average, expected);
  EXPECT_NE(with.validations[0].judgements[0].value, without.validations[0].judgements[0].value);
  EXPECT_FALSE(std::filesystem::exists(plain / "checkpoint_43" / kParametersFile));

  EXPECT_EQ(train(stopped, config, {1, 7, 20, 41}), expected);
  EXPECT_EQ(saved_parameters(stopped / "checkpoint_43" / "model.safetensors"), average);
}

TEST(Trainer, TheMovingAverageIsThatOfTheParameters) {
  const TempDir dir;
  TrainerConfig config = quick("3u");
  config.ema = 0.75;
  config.save_freq = "1u";
  config.keep_last = 0;
  train(dir, config, {});
  ToyJob fresh;
  std::vector<double> average;
  for (const float value : parameters_of(fresh)) average.push_back(value);
  for (const char* const name : {"checkpoint_1", "checkpoint_2", "checkpoint_3"}) {
    const std::vector<float> parameters = saved_parameters(dir / name / kParametersFile);
    const std::vector<float> saved = saved_parameters(dir / name / "model.safetensors");
    for (std::size_t i = 0; i < average.size(); ++i) {
      average[i] = 0.75 * average[i] + 0.25 * parameters[i];
      ASSERT_NEAR(saved[i], average[i], 1e-6) << name << " " << i;
    }
  }
}

TEST(Trainer, Learns) {
  const TempDir dir;
  Seen seen;
  train(dir, quick("300u"), {}, &seen);
  EXPECT_LT(seen.validations.back().judgements[0].value,
            0.5 * seen.validations.front().judgements[0].value);
  EXPECT_EQ(seen.validations.size(), 30u);
  EXPECT_EQ(seen.updates.back().update, 300);
  EXPECT_NEAR(seen.updates.back().epoch, 300.0 / ToyJob::kEpochBatches, 1e-12);
}

TEST(Trainer, EpochsCountToo) {
  const TempDir dir;
  TrainerConfig config = quick("3e");
  config.valid_freq = config.save_freq = "1e";
  Seen seen;
  train(dir, config, {}, &seen);
  ASSERT_EQ(seen.validations.size(), 3u);
  EXPECT_EQ(seen.validations[0].update, ToyJob::kEpochBatches);
  EXPECT_EQ(seen.updates.back().update, 3 * ToyJob::kEpochBatches);
}

TEST(Trainer, TwoBatchesAnUpdateAreOneOfTwiceTheSize) {
  TrainerConfig config = quick("1u");
  config.accumulate = 2;
  config.valid_freq = "0";
  config.optimizer = {.kind = OptimizerKind::sgd};
  const TempDir dir;
  ToyJob job, plain;
  for (ToyJob* const j : {&job, &plain}) j->network.dropout = Dropout({.p = 0.0});
  Trainer(job, config, {.folder = dir.path()}).run();
  const Tensor sum = plain.next().sum + plain.next().sum;
  sum.backward();
  Tensor& weight = plain.network.scores.weight.data;
  for (std::int64_t i = 0; i < weight.numel(); ++i) {
    weight.mutable_data<float>()[i] -= 0.05f * weight.grad().data<float>()[i] / 32.0f;
    EXPECT_NEAR(job.network.scores.weight.data.data<float>()[i], weight.data<float>()[i], 1e-6);
  }
}

TEST(Trainer, KeepsTheBestAndStopsWithoutGain) {
  const TempDir dir;
  TrainerConfig config = quick("0");
  config.early_stopping = 3;
  config.valid_freq = "2u";
  config.save_freq = "4u";
  config.keep_last = 2;
  ToyJob job;
  job.judgements = {5, 4, 6, 3, 3, 4, 5, 1};
  Trainer trainer(job, config, {.folder = dir.path()});
  EXPECT_EQ(trainer.run(), Outcome::stalled);
  EXPECT_EQ(trainer.progress().updates, 14);
  EXPECT_EQ(trainer.progress().best, 3);
  EXPECT_EQ(trainer.progress().best_update, 8);
  const auto target = [&](const char* name) {
    return std::filesystem::read_symlink(dir / name).string();
  };
  EXPECT_EQ(target("checkpoint_best"), "checkpoint_8");
  EXPECT_EQ(target("checkpoint_last"), "checkpoint_14");
  EXPECT_EQ(Checkpoints(dir.path(), 2).updates(), (std::vector<std::int64_t>{8, 12, 14}));
}

// A process that died after its last checkpoint, before it moved the links and removed the old
// ones.
TEST(Trainer, AResumedRunFinishesTheLastStepsOfSaving) {
  const TempDir dir;
  TrainerConfig config = quick("10u");
  config.valid_freq = config.save_freq = "2u";
  config.keep_last = 1;
  ToyJob job;
  job.judgements = {5, 4, 3, 2, 1};
  Trainer(job, config, {.folder = dir.path()}).run();
  std::filesystem::copy(dir / "checkpoint_10", dir / "checkpoint_8");
  for (const char* const name : {"checkpoint_best", "checkpoint_last"}) {
    std::filesystem::remove(dir / name);
    std::filesystem::create_directory_symlink("checkpoint_8", dir / name);
  }
  ToyJob again;
  Trainer trainer(again, config, {.folder = dir.path()});
  ASSERT_TRUE(trainer.resume());
  trainer.run();
  EXPECT_EQ(std::filesystem::read_symlink(dir / "checkpoint_last").string(), "checkpoint_10");
  EXPECT_EQ(std::filesystem::read_symlink(dir / "checkpoint_best").string(), "checkpoint_10");
  EXPECT_EQ(Checkpoints(dir.path(), 1).updates(), (std::vector<std::int64_t>{10}));
}

TEST(Trainer, TheBestMayBeTheHighest) {
  const TempDir dir;
  TrainerConfig config = quick("0");
  config.early_stopping = 2;
  config.valid_freq = "2u";
  ToyJob job;
  job.judgements = {1, 3, 2, 2};
  job.higher_is_better = true;
  Trainer trainer(job, config, {.folder = dir.path()});
  EXPECT_EQ(trainer.run(), Outcome::stalled);
  EXPECT_EQ(trainer.progress().best, 3);
  EXPECT_EQ(trainer.progress().updates, 8);
}

TEST(Trainer, AValidationThatIsNotFiniteIsNeverTheBest) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const bool higher : {false, true}) {
    const TempDir dir;
    TrainerConfig config = quick("12u");
    config.valid_freq = config.save_freq = "2u";
    ToyJob job;
    job.judgements = {-kNan, kInfinity, -kInfinity, 3, kNan, 4};
    job.higher_is_better = higher;
    Seen seen;
    Trainer trainer(job, config, {.folder = dir.path()}, &seen);
    EXPECT_EQ(trainer.run(), Outcome::finished);
    EXPECT_EQ(trainer.progress().best, higher ? 4 : 3);
    EXPECT_EQ(trainer.progress().best_update, higher ? 12 : 8);
    ASSERT_EQ(seen.validations.size(), 6u);
    EXPECT_EQ(fmt::format("{}", seen.validations[0].judgements[0].value), "nan");
    for (const std::size_t i : {0u, 1u, 2u, 4u}) {
      EXPECT_FALSE(seen.validations[i].best) << i;
      EXPECT_FALSE(seen.validations[i].finite) << i;
    }
    EXPECT_TRUE(seen.validations[3].best && seen.validations[3].finite);
    EXPECT_EQ(seen.validations[2].stalled, 3);
  }
}

TEST(Trainer, ValidationsThatAreNeverFiniteCountAsStalled) {
  const TempDir dir;
  TrainerConfig config = quick("0");
  config.valid_freq = "2u";
  config.early_stopping = 3;
  ToyJob job;
  job.judgements = {std::numeric_limits<double>::quiet_NaN()};
  Trainer trainer(job, config, {.folder = dir.path()});
  EXPECT_EQ(trainer.run(), Outcome::stalled);
  EXPECT_FALSE(trainer.progress().judged);
  EXPECT_FALSE(std::filesystem::exists(dir / "checkpoint_best"));
  Trainer again(job, config, {.folder = dir.path()});
  EXPECT_TRUE(again.resume()) << "the state can be written and read";
  EXPECT_EQ(again.progress().stalled, 3);
}

TEST(Trainer, JudgesTheModelInUse) {
  const TempDir dir;
  ToyJob job;
  Trainer(job, quick("25u"), {.folder = dir.path()}).run();
  EXPECT_TRUE(job.always_right_mode);
}

TEST(Trainer, ClipsTheGradientOfTheMean) {
  const TempDir dir;
  TrainerConfig config = quick("1u");
  config.optimizer = {.kind = OptimizerKind::sgd};
  config.clip_norm = 0.01;
  ToyJob job;
  const std::vector<float> before = parameters_of(job);
  Seen seen;
  Trainer(job, config, {.folder = dir.path()}, &seen).run();
  const std::vector<float> after = parameters_of(job);
  double squares = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    squares += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
  }
  EXPECT_NEAR(std::sqrt(squares), 0.05 * 0.01, 1e-6);  // rate times norm
  EXPECT_GT(seen.updates[0].gradient_norm, 0.05);      // before it was clipped
}

TEST(Trainer, OnlyBadUpdatesInARowStopIt) {
  const TempDir dir;
  TrainerConfig config = quick("20u");
  config.max_skipped = 1;
  ToyJob job;
  job.poisoned = 4;
  job.poison_every = 2;
  Trainer trainer(job, config, {.folder = dir.path()});
  EXPECT_EQ(trainer.run(), Outcome::finished);
  EXPECT_EQ(trainer.progress().skipped, 8);
}

TEST(Trainer, SkipsWhatIsNotFinite) {
  const TempDir dir;
  TrainerConfig config = quick("12u");
  config.max_skipped = 2;
  ToyJob job;
  job.poisoned = 10;
  job.poison = -std::numeric_limits<double>::quiet_NaN();
  Seen seen;
  Trainer trainer(job, config, {.folder = dir.path()}, &seen);
  EXPECT_EQ(trainer.run(), Outcome::finished);
  EXPECT_EQ(trainer.progress().skipped, 2);
  EXPECT_TRUE(seen.updates[10].skipped);
  EXPECT_FALSE(seen.updates[9].skipped);
  EXPECT_EQ(fmt::format("{} {}", seen.updates[10].loss, seen.updates[10].gradient_norm), "nan nan");
  for (const float value : parameters_of(job)) EXPECT_TRUE(std::isfinite(value));
}

TEST(Trainer, StopsWhenTheModelGivesOnlyNan) {
  const TempDir dir;
  TrainerConfig config = quick("0");
  config.max_skipped = 4;
  config.early_stopping = 0;
  ToyJob job;
  job.poisoned = 60;
  Trainer trainer(job, config, {.folder = dir.path()});
  const std::string message = error_message([&] { trainer.run(); });
  EXPECT_THAT(message, HasSubstr("[train] 5 updates in a row had a loss or a gradient that is not "
                                 "finite; the last, 65, a loss of nan"));
  EXPECT_THAT(message, HasSubstr("since update 60: train again with a lower schedule.peak"));
  EXPECT_EQ(Checkpoints(dir.path(), 0).updates().back(), 60);
}

TEST(Trainer, ANewModelThatGivesNanHasOtherAdvice) {
  const TempDir dir;
  ToyJob job;
  job.poisoned = 0;
  Trainer trainer(job, quick("0"), {.folder = dir.path()});
  EXPECT_THAT(error_message([&] { trainer.run(); }),
              HasSubstr("a new model gives such values from the start: check the sizes"));
}

TEST(Trainer, SkipsAnIsolatedJumpAndAdaptsToANewLevel) {
  for (const std::int64_t every : {30, 1}) {
    const TempDir dir;
    TrainerConfig config = quick("120u");
    config.max_skipped = 0;  // of losses that are not finite
    config.early_stopping = 0;
    ToyJob job;
    job.poisoned = 60;
    job.poison = 1e5;
    job.poison_every = every;
    Seen seen;
    Trainer trainer(job, config, {.folder = dir.path()}, &seen);
    EXPECT_EQ(trainer.run(), Outcome::finished);
    EXPECT_TRUE(seen.updates[60].skipped);
    EXPECT_EQ(trainer.progress().skipped, every == 1 ? 6 : 2);
  }
}

TEST(Trainer, TheGuardResumesToTheBit) {
  const TrainerConfig config = quick("90u");
  const auto skipped = [&](std::vector<std::int64_t> stops) {
    const TempDir dir;
    stops.push_back(std::numeric_limits<std::int64_t>::max());
    std::int64_t count = 0;
    for (const std::int64_t stop : stops) {
      ToyJob job;
      job.poisoned = 60;
      job.poison = 1e5;
      job.poison_every = 2;
      const Trainer* running = nullptr;
      Trainer trainer(job, config, {.folder = dir.path(), .interrupted = [&] {
                                      return running->progress().updates >= stop;
                                    }});
      running = &trainer;
      trainer.resume();
      trainer.run();
      count = trainer.progress().skipped;
    }
    return count;
  };
  const std::int64_t expected = skipped({});
  EXPECT_GT(expected, 2);
  EXPECT_EQ(skipped({61, 62, 66, 70}), expected);
}

// Stops inside the n-th batch or validation, in the middle of its work, and goes on in a new
// trainer.
TEST(Trainer, AnInterruptedUpdateOrValidationResumesToTheBit) {
  TrainerConfig config = quick("43u");
  config.accumulate = 2;
  config.ema = 0.9;
  const auto run_with_stops = [&](const TempDir& dir, std::vector<int> batches,
                                  std::vector<int> validations, Seen& seen) {
    for (bool goes_on = true; goes_on;) {
      ToyJob job;
      default_generator() = Generator(9);
      bool asked = false;
      const auto stop_at = [&asked](std::vector<int>& numbers) {
        return [&asked, &numbers, n = 0]() mutable {
          if (!numbers.empty() && ++n == numbers.front()) {
            numbers.erase(numbers.begin());
            asked = true;
            throw Interrupted();  // as a loop inside would
          }
        };
      };
      job.in_next = stop_at(batches);
      job.in_validate = stop_at(validations);
      Trainer trainer(job, config, {.folder = dir.path(), .interrupted = [&] { return asked; }},
                      &seen);
      trainer.resume();
      const Outcome outcome = trainer.run();
      EXPECT_EQ(outcome, asked ? Outcome::interrupted : Outcome::finished);
      goes_on = asked;
      if (!goes_on) return std::pair(parameters_of(job), trainer.progress());
    }
    return std::pair(std::vector<float>(), TrainingProgress());
  };
  const TempDir straight, stopped;
  Seen all, parts;
  const auto [expected, progress] = run_with_stops(straight, {}, {}, all);
  const auto [found, reached] = run_with_stops(stopped, {1, 8, 30}, {1, 1, 2}, parts);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(reached.best, progress.best);
  EXPECT_EQ(reached.best_update, progress.best_update);
  EXPECT_EQ(reached.stalled, progress.stalled);
  ASSERT_EQ(parts.updates.size(), all.updates.size()) << "none is counted twice";
  ASSERT_EQ(parts.validations.size(), all.validations.size()) << "none is left out";
  for (std::size_t i = 0; i < all.validations.size(); ++i) {
    EXPECT_EQ(parts.validations[i].update, all.validations[i].update);
    EXPECT_EQ(parts.validations[i].judgements[0].value, all.validations[i].judgements[0].value);
    EXPECT_EQ(parts.validations[i].best, all.validations[i].best);
  }
  EXPECT_EQ(std::filesystem::read_symlink(stopped / "checkpoint_best"),
            std::filesystem::read_symlink(straight / "checkpoint_best"));
}

TEST(Trainer, APlaceInsideAnEpochNeedsTheSameBatches) {
  const TempDir dir;
  const auto resume = [&](std::int64_t block_length) {
    ToyJob job;
    job.settings = {{"block_length", block_length}, {"seed", 1}};
    Trainer trainer(job, quick("14u"), {.folder = dir.path()});
    trainer.resume();
    return trainer.progress().updates;
  };
  {
    ToyJob job;
    job.settings = {{"block_length", 32}, {"seed", 1}};
    Trainer(job, quick("10u"), {.folder = dir.path()}).run();  // epochs have 7 batches
  }
  EXPECT_EQ(resume(32), 10);
  EXPECT_THAT(error_message([&] { resume(64); }),
              HasSubstr("is inside epoch 2, and block_length was 32 and is 64: the place in the "
                        "data is valid only for the same batches; resume with the earlier value, "
                        "or change it at the end of an epoch (--after 2e)"));
  {
    ToyJob job;
    job.settings = {{"block_length", 32}, {"seed", 1}};
    Trainer trainer(job, quick("2e"), {.folder = dir.path()});
    trainer.resume();
    trainer.run();
  }
  EXPECT_EQ(resume(64), 14) << "at the end of an epoch, the place is the start of the next";
}

TEST(Trainer, WhatDecidesMustBeJudged) {
  const TempDir dir;
  TrainerConfig config = quick("20u");
  config.stop_on = "bleu";
  ToyJob job;
  Trainer trainer(job, config, {.folder = dir.path()});
  EXPECT_EQ(error_message([&] { trainer.run(); }),
            "[train] stop_on = \"bleu\", but validation gives loss: name one of those");
}

}  // namespace
}  // namespace heed::trainer_test
