// Training on several ranks: the bits, decisions and checkpoints of one process.
#include "heed/training/sharded_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "heed/autograd/tape.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/training/trainer.h"
#include "tests/distributed/thread_ranks.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"
#include "tests/training/toy_job.h"

namespace heed::sharded_test {
namespace {

using test::ThreadRanks;
using test::ToyJob;
using testing::HasSubstr;

TrainerConfig sharded(std::string after) {
  TrainerConfig config;
  config.after = std::move(after);
  config.valid_freq = "10u";
  config.save_freq = "5u";
  config.shards = 8;
  config.bucket = 1;  // each tensor travels alone
  config.schedule = {.kind = Schedule::constant, .peak = 0.05, .warmup = 1};
  return config;
}

// What a run leaves: the files of a checkpoint, without the times in its progress.
std::vector<std::string> files_of(const std::filesystem::path& checkpoint) {
  constexpr std::size_t kMost = 1 << 24;
  TrainingProgress progress;
  io::load_config(checkpoint / kProgressFile, progress);
  progress.seconds = 0.0;
  std::vector<std::string> files = {io::read_file(checkpoint / "model.safetensors", kMost),
                                    io::read_file(checkpoint / kOptimizerFile, kMost),
                                    io::to_json(progress)};
  if (std::filesystem::exists(checkpoint / kParametersFile)) {
    files.push_back(io::read_file(checkpoint / kParametersFile, kMost));
  }
  return files;
}

struct Setting {
  bool has_norm = false;
  std::int64_t missing_rows = 0;
  std::int64_t stop_at = -1;  // rank 1 (or the only one) asks for the end after that update
};

// Trains on so many ranks, from the newest checkpoint on if there is one.
Outcome train(const TempDir& dir, const TrainerConfig& config, int ranks,
              const Setting& setting = {}) {
  std::atomic<Outcome> outcome = Outcome::finished;
  ThreadRanks(ranks).run_all([&](Communicator& rank) {
    ToyJob job(setting.has_norm);
    job.missing_rows = setting.missing_rows;
    default_generator() = Generator(9);
    const Trainer* running = nullptr;
    const bool asks = rank.rank() == std::min(1, rank.size() - 1);
    Trainer trainer(job, config,
                    {.folder = dir.path(),
                     .interrupted =
                         [&] {
                           return asks && setting.stop_at >= 0 &&
                                  running->progress().updates >= setting.stop_at;
                         },
                     .ranks = &rank});
    running = &trainer;
    trainer.resume();
    outcome = trainer.run();
  });
  return outcome;
}

void expect_same_bits(const TrainerConfig& config, const Setting& setting = {}) {
  const TempDir one;
  train(one, config, 1, setting);
  const auto expected = files_of(one / "checkpoint_23");
  for (const int ranks : {2, 3, 4, 8}) {
    const TempDir many;
    train(many, config, ranks, setting);
    EXPECT_EQ(files_of(many / "checkpoint_23"), expected) << ranks << " ranks";
  }
}

TEST(ShardedBatches, AnyNumberOfRanksGivesTheSameBits) { expect_same_bits(sharded("23u")); }

TEST(ShardedBatches, AlsoWithClippingAveragesAndAccumulation) {
  TrainerConfig config = sharded("23u");
  config.clip_norm = 0.05;
  config.ema = 0.9;
  config.accumulate = 3;
  config.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 0.1};
  expect_same_bits(config);
  config.optimizer = {.kind = OptimizerKind::sgd, .momentum = 0.9};
  expect_same_bits(config);
}

TEST(ShardedBatches, AlsoWithRunningAverages) {
  expect_same_bits(sharded("23u"), {.has_norm = true});
}

TEST(ShardedBatches, AlsoWithGradientsInBf16) {
  TrainerConfig config = sharded("23u");
  config.wire = Wire::bf16;
  expect_same_bits(config);
  expect_same_bits(config, {.missing_rows = 11});
  const TempDir rounded, exact;
  train(rounded, config, 2);
  train(exact, sharded("23u"), 2);
  EXPECT_NE(files_of(rounded / "checkpoint_23")[0], files_of(exact / "checkpoint_23")[0]);
  EXPECT_THAT(error_message([&] { train(TempDir(), config, 1, {.has_norm = true}); }),
              HasSubstr("wire = bf16: this model has batch norms"));
}

TEST(ShardedBatches, AlsoWithFewerRowsThanShards) {
  expect_same_bits(sharded("23u"), {.missing_rows = 11});
  expect_same_bits(sharded("23u"), {.has_norm = true, .missing_rows = 13});
}

TEST(ShardedBatches, AlsoWithBucketsOfAnySize) {
  TrainerConfig config = sharded("23u");
  const TempDir alone, whole;
  train(alone, config, 3);
  config.bucket = 0;
  train(whole, config, 3);
  EXPECT_EQ(files_of(alone / "checkpoint_23"), files_of(whole / "checkpoint_23"));
}

// Counts the messages that start inside a backward pass.
class StartCounter : public Communicator {
 public:
  explicit StartCounter(Communicator& ranks) : ranks_(ranks) {}
  int rank() const override { return ranks_.rank(); }
  int size() const override { return ranks_.size(); }
  std::string name_of(int rank) const override { return ranks_.name_of(rank); }
  std::unique_ptr<Transfer> start(std::span<const Outgoing> sent,
                                  std::span<const Incoming> received) override {
    in_pass += grad_enabled() ? 0 : 1;  // a backward pass records nothing
    return ranks_.start(sent, received);
  }
  void set_deadline(double seconds) override { ranks_.set_deadline(seconds); }
  void leave() override { ranks_.leave(); }
  [[noreturn]] void abort(int code) override {
    ranks_.abort(code);
    throw InternalError("abort");  // for the compiler, which may not know that the line above ends
  }

  int in_pass = 0;

 private:
  Communicator& ranks_;
};

TEST(ShardedBatches, SendGradientsDuringTheLastBackwardPass) {
  ThreadRanks(2).run_all([](Communicator& rank) {
    ToyJob job;
    StartCounter counter(rank);
    ShardedBatches batches(job, counter, {.shards = 8, .bucket = 1});
    const auto optimizer = make_optimizer({}, job.network.named_parameters(), batches.parts());
    batches.set_optimizer(*optimizer);
    const auto sums = batches.compute(1, [&](FunctionRef<void()> work) {
      work();
      return true;
    });
    EXPECT_TRUE(sums.has_value());
    EXPECT_EQ(counter.in_pass, 4) << "a bucket for each parameter";
  });
}

TEST(ShardedBatches, ShardsAreAnotherOrderOfTheSameSum) {
  const TempDir whole, parts;
  TrainerConfig config = sharded("1u");
  config.optimizer = {.kind = OptimizerKind::sgd};
  const auto trained = [&](const TempDir& dir) {
    train(dir, config, 1);
    ToyJob job;
    load_parameters(job.network, dir / "checkpoint_1" / "model.safetensors");
    return job.network.hidden.bias.to_vector<float>();
  };
  const auto sum = trained(parts);
  config.shards = 1;
  const auto expected = trained(whole);
  // Dropout differs, so the gradients are only similar.
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], expected[i], 0.02);
}

TEST(ShardedBatches, ResumesOnAnyNumberOfRanksToTheSameBits) {
  const TempDir straight, stopped;
  TrainerConfig config = sharded("23u");
  config.ema = 0.9;
  train(straight, config, 1, {.has_norm = true});
  EXPECT_EQ(train(stopped, config, 4, {.has_norm = true, .stop_at = 3}), Outcome::interrupted);
  EXPECT_TRUE(std::filesystem::exists(stopped / "checkpoint_3"));
  EXPECT_EQ(train(stopped, config, 3, {.has_norm = true, .stop_at = 11}), Outcome::interrupted);
  EXPECT_EQ(train(stopped, config, 1, {.has_norm = true, .stop_at = 17}), Outcome::interrupted);
  EXPECT_EQ(train(stopped, config, 2, {.has_norm = true}), Outcome::finished);
  EXPECT_EQ(files_of(stopped / "checkpoint_23"), files_of(straight / "checkpoint_23"));
}

TEST(ShardedBatches, SkipsAndStopsEverywhereAlike) {
  for (const int size : {1, 3}) {
    const TempDir dir;
    const auto errors = ThreadRanks(size).run([&](Communicator& rank) {
      ToyJob job(true);
      job.poisoned = 7;
      default_generator() = Generator(9);
      TrainerConfig config = sharded("50u");
      config.max_skipped = 4;
      Trainer trainer(job, config, {.folder = dir.path(), .ranks = &rank});
      trainer.run();
    });
    for (const std::exception_ptr& error : errors) {
      ASSERT_TRUE(error);
      EXPECT_THAT(error_message([&] { std::rethrow_exception(error); }),
                  HasSubstr("5 updates in a row had a loss"));
    }
  }
}

TEST(ShardedBatches, TellsWhatTheRanksDid) {
  struct Seen : TrainingWatcher {
    void updated(const UpdateReport& report) override { reports.push_back(report); }
    std::vector<UpdateReport> reports;
  };
  const TempDir dir;
  Seen seen;
  ThreadRanks(3).run_all([&](Communicator& rank) {
    ToyJob job;
    Trainer trainer(job, sharded("2u"), {.folder = dir.path(), .ranks = &rank},
                    rank.is_first() ? &seen : nullptr);
    trainer.run();
  });
  ASSERT_EQ(seen.reports.size(), 2u);
  ASSERT_EQ(seen.reports[1].ranks.size(), 3u);
  std::int64_t tokens = 0;
  for (const RankReport& report : seen.reports[1].ranks) {
    tokens += report.target_tokens;
    EXPECT_GT(report.compute, 0.0);
  }
  EXPECT_EQ(tokens, seen.reports[1].target_tokens);
  EXPECT_EQ(tokens, ToyJob::kRows);
}

TEST(ShardedBatches, EachRankKeepsMomentsOfItsPartAlone) {
  ThreadRanks(2).run_all([](Communicator& rank) {
    ToyJob job;
    ShardedBatches batches(job, rank, {.shards = 8});
    std::int64_t own = 0;
    for (const ElementRange& part : batches.parts()) own += part.size();
    EXPECT_LT(own, job.network.parameter_count());
  });
}

}  // namespace
}  // namespace heed::sharded_test
