// Whole runs on several ranks, as threads: what they leave, and what they refuse before they start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/models/transformer.h"
#include "heed/training/curves.h"
#include "heed/training/run.h"
#include "tests/distributed/thread_ranks.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed::ranked_run_test {
namespace {

using test::ThreadRanks;
using testing::HasSubstr;

class RankedRun : public testing::Test {
 protected:
  RankedRun() {
    config_.train_sets = {file("s", "a b c\nb c\nc a b a\nb\nc c\na a\nb a\nc b a\na c\n"),
                          file("t", "x y\ny z z\nz\ny y\nx z\nx\ny x\nz\nz y x\n")};
    config_.valid_sets = {file("vs", "a b\n"), file("vt", "x\n")};
    config_.models.of<Transformer>() = {
        .encoder_layers = 1,
        .decoder_layers = 1,
        .block = {.embed = 16, .heads = 2, .hidden = 20, .dropout = 0.3}};
    config_.vocabulary = {.kind = VocabularyKind::words, .size = 0};
    config_.batch_tokens = 30;
    config_.trainer.after = "6u";
    config_.trainer.valid_freq = config_.trainer.save_freq = "3u";
    config_.trainer.clip_norm = 1.0;
  }
  std::string file(const std::string& name, const std::string& text) {
    io::write_file(dir_ / name, text);
    return (dir_ / name).string();
  }

  // Trains on so many ranks; the bytes of the model.
  std::string train(const std::string& name, int size, bool resume = false) {
    ThreadRanks(size).run_all([&](Communicator& ranks) {
      TrainingRun run{.config = config_, .resume = resume, .ranks = &ranks};
      run.config.model = (dir_ / name).string();
      run_training(run);
    });
    return io::read_file(dir_ / name / "checkpoint_6" / "model.safetensors", std::size_t{1} << 30);
  }
  void expect_same_bits() {
    const std::string expected = train("one", 1);
    EXPECT_EQ(train("two", 2), expected);
    EXPECT_EQ(train("three", 3), expected);
    EXPECT_EQ(train("eight", 8), expected);
  }

  // What the first rank says if the ranks' runs differ as `change` makes them.
  std::string refusal(const std::function<void(TrainingRun&, int rank)>& change, int size = 3) {
    const auto errors = ThreadRanks(size).run([&](Communicator& ranks) {
      TrainingRun run{.config = config_, .ranks = &ranks};
      run.config.model = (dir_ / "refused").string();
      change(run, ranks.rank());
      run_training(run);
    });
    for (const std::exception_ptr& error : errors) EXPECT_TRUE(error);
    return error_message([&] { std::rethrow_exception(errors[0]); });
  }

  TempDir dir_;
  TrainConfig config_;
};

TEST_F(RankedRun, TransformerHasTheSameBits) { expect_same_bits(); }

TEST_F(RankedRun, RecurrentTranslatorHasTheSameBits) {
  io::set_fields(config_, {"kind=recurrent", "recurrent.embed=12", "recurrent.hidden=12",
                           "recurrent.dropout=0.3"});
  expect_same_bits();
}

TEST_F(RankedRun, LanguageModelHasTheSameBits) {
  config_.task = Task::language;
  config_.train_sets = {config_.train_sets[0]};
  config_.valid_sets = {};
  config_.vocabulary = {.kind = VocabularyKind::characters, .size = 0};
  config_.block_length = 5;
  io::set_fields(config_, {"language_model.embed=16", "language_model.heads=2",
                           "language_model.layers=1", "language_model.dropout=0.3"});
  expect_same_bits();
}

TEST_F(RankedRun, RankZeroWritesTheCurvesAndTheNumberOfShards) {
  train("model", 3);
  EXPECT_EQ(read_curves(dir_ / "model").training.size(), 6u);
  TrainConfig used;
  io::load_config(dir_ / "model" / kUsedConfig, used);
  EXPECT_EQ(used.trainer.shards, 8);
}

TEST_F(RankedRun, GoesOnWithTheShardsItBeganWith) {
  const std::string expected = train("straight", 2);
  config_.trainer.after = "3u";
  ThreadRanks(4).run_all([&](Communicator& ranks) {
    TrainingRun run{.config = config_, .ranks = &ranks};
    run.config.model = (dir_ / "again").string();
    run_training(run);
  });
  config_.trainer.after = "6u";
  TrainingRun run{.config = config_, .resume = true};  // without ranks
  run.config.model = (dir_ / "again").string();
  run_training(run);
  EXPECT_EQ(io::read_file(dir_ / "again" / "checkpoint_6" / "model.safetensors", 1 << 30),
            expected);
}

TEST_F(RankedRun, NamesRanksThatDiffer) {
  EXPECT_THAT(refusal([](TrainingRun& run, int rank) {
                run.config.batch_tokens = rank == 2 ? 31 : 30;
                run.config.cpu_threads = rank + 1;  // may differ
              }),
              HasSubstr("differ from rank 0: rank 2: batch_tokens is 31 instead of 30: "));
  const std::string other = file("other", "a\nb\n");
  std::filesystem::create_directory(dir_ / "elsewhere");
  EXPECT_THAT(refusal([&](TrainingRun& run, int rank) {
                if (rank == 1) run.config.train_sets[0] = other;
              }),
              HasSubstr("rank 1: the content of"));
}

TEST_F(RankedRun, NamesTheRankThatFails) {
  EXPECT_THAT(refusal([&](TrainingRun& run, int rank) {
                if (rank == 1) run.config.model = (dir_ / "s" / "below a file").string();
              }),
              HasSubstr("rank 1"));
}

TEST_F(RankedRun, RefusesTooManyRanks) {
  EXPECT_THAT(refusal([](TrainingRun& run, int) { run.config.trainer.shards = 2; }),
              HasSubstr("3 ranks for 2 shards"));
}

TEST_F(RankedRun, RefusesTasksWhoseLossIsNotASum) {
  EXPECT_THAT(refusal([](TrainingRun& run, int) {
                run.config.task = Task::embed;
                run.config.trainer.stop_on = "loss";
              }),
              HasSubstr("compares all texts of a batch"));
}

}  // namespace
}  // namespace heed::ranked_run_test
