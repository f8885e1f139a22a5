// A run as a whole: what it leaves in its folder, what it refuses, who is told, and how it goes on.
#include "heed/training/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/base/threads.h"
#include "heed/io/config.h"
#include "heed/io/file.h"
#include "heed/io/folder_lock.h"
#include "heed/models/bag_of_words.h"
#include "heed/models/transformer.h"
#include "heed/training/curves.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::Contains;
using testing::HasSubstr;

class Run : public testing::Test {
 protected:
  Run() {
    run_.config.model = (dir_ / "model").string();
    run_.config.train_sets = {file("s", "a b c\nb c\nc a b a\nb\nc c\n"),
                              file("t", "x y\ny z z\nz\ny y\nx z\n")};
    run_.config.valid_sets = {file("vs", "a b\n"), file("vt", "x\n")};
    run_.config.models.of<Transformer>() = {
        .encoder_layers = 1, .decoder_layers = 1, .block = {.embed = 16, .heads = 2, .hidden = 20}};
    run_.config.vocabulary = {.kind = VocabularyKind::words, .size = 0};
    run_.config.batch_tokens = 12;
    run_.config.trainer.after = "6u";
    run_.config.trainer.valid_freq = run_.config.trainer.save_freq = "3u";
  }
  std::string file(const std::string& name, const std::string& text) {
    io::write_file(dir_ / name, text);
    return (dir_ / name).string();
  }
  std::string bytes_of(const std::filesystem::path& folder) {
    return io::read_file(folder / "checkpoint_6" / "model.safetensors", std::size_t{1} << 30);
  }

  TempDir dir_;
  TrainingRun run_;
};

struct Seen : TrainingWatcher {
  void updated(const UpdateReport& report) override { updates.push_back(report.update); }
  std::vector<std::int64_t> updates;
};

// Trains for that many updates, then stops.
RunResult run_for(const TrainingRun& run, std::size_t updates) {
  Seen seen;
  return run_training(
      run, {.watcher = &seen, .interrupted = [&] { return seen.updates.size() >= updates; }});
}

TEST_F(Run, LeavesCheckpointsCurvesAndItsConfig) {
  run_.tensorboard = (dir_ / "events").string();
  const RunResult result = run_training(run_);
  EXPECT_EQ(result.outcome, Outcome::finished);
  EXPECT_EQ(result.progress.updates, 6);
  const std::filesystem::path folder = run_.config.model;
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint_last" / "model.safetensors"));
  EXPECT_EQ(read_curves(folder).training.size(), 6u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(run_.tensorboard), {}), 1);
  TrainConfig used;
  io::load_config(folder / kUsedConfig, used);
  EXPECT_EQ(io::to_toml(used), io::to_toml(run_.config));
}

TEST_F(Run, TellsAndAsks) {
  std::vector<std::string> notes;
  Seen seen;
  const RunHooks hooks{.note = [&](const std::string& text) { notes.push_back(text); },
                       .watcher = &seen,
                       .interrupted = [&] { return seen.updates.size() == 4; }};
  const RunResult result = run_training(run_, hooks);
  EXPECT_EQ(result.outcome, Outcome::interrupted);
  EXPECT_EQ(seen.updates, (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_THAT(notes, Contains(HasSubstr("5 pairs")));
  EXPECT_THAT(notes, Contains(HasSubstr("parameters, ")));
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(run_.config.model) / "checkpoint_4"));
}

TEST_F(Run, CanBeStoppedWhileItReadsTheData) {
  const RunResult result = run_training(run_, {.interrupted = [] { return true; }});
  EXPECT_EQ(result.outcome, Outcome::interrupted);
  EXPECT_EQ(result.progress.updates, 0);
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(run_.config.model) / kUsedConfig));
  EXPECT_EQ(run_training(run_).progress.updates, 6);
}

TEST_F(Run, GoesOnToTheSameBits) {
  run_training(run_);
  const std::string expected = bytes_of(run_.config.model);
  run_.config.model = (dir_ / "again").string();
  run_for(run_, 4);
  EXPECT_THAT(error_message([&] { run_training(run_); }),
              HasSubstr("holds checkpoints of an earlier run"));
  run_.resume = true;
  std::vector<std::string> notes;
  run_training(run_, {.note = [&](const std::string& text) { notes.push_back(text); }});
  EXPECT_THAT(notes, Contains("going on from update 4"));
  EXPECT_EQ(bytes_of(run_.config.model), expected);
}

TEST_F(Run, SettingsThatAreRefusedChangeNothing) {
  run_for(run_, 4);
  const std::filesystem::path used = std::filesystem::path(run_.config.model) / kUsedConfig;
  const std::string before = io::read_file(used, std::size_t{1} << 20);
  const std::string curve =
      io::read_file(std::filesystem::path(run_.config.model) / "train.csv", std::size_t{1} << 20);
  TrainingRun refused = run_;
  refused.resume = true;
  refused.config.trainer.optimizer.kind = OptimizerKind::sgd;
  EXPECT_THAT(error_message([&] { run_training(refused); }), HasSubstr("holds the state of adam"));
  EXPECT_EQ(io::read_file(used, std::size_t{1} << 20), before);
  EXPECT_EQ(
      io::read_file(std::filesystem::path(run_.config.model) / "train.csv", std::size_t{1} << 20),
      curve);
  refused.config = run_config({}, true, [&](TrainConfig& c) { c.model = run_.config.model; });
  EXPECT_EQ(run_training(refused).progress.updates, 6) << "the plain resume goes on";
}

TEST_F(Run, ResumesOnlyWithTheModelOfTheCheckpoint) {
  run_for(run_, 4);
  run_.resume = true;
  TrainingRun other = run_;
  other.config.models.of<Transformer>().block.dropout = 0.3;
  EXPECT_THAT(error_message([&] { run_training(other); }),
              HasSubstr("transformer.dropout was 0.1 and is 0.3: a run resumes with the model of "
                        "its checkpoint"));
  run_.config.models.of<BagOfWords>().dropout = 0.3;  // the section of another kind
  EXPECT_EQ(run_training(run_).progress.updates, 6);
}

TEST_F(Run, AConfigThatIsRefusedMakesNoFolder) {
  run_.config.batch_tokens = 0;
  EXPECT_THAT(error_message([&] { run_training(run_); }), HasSubstr("batch_tokens is 0"));
  EXPECT_FALSE(std::filesystem::exists(run_.config.model));
}

TEST_F(Run, HasItsFolderToItself) {
  std::filesystem::create_directories(run_.config.model);
  const io::FolderLock other(run_.config.model, "test");
  EXPECT_THAT(error_message([&] { run_training(run_); }), HasSubstr("is using"));
}

TEST_F(Run, ThreadsAreTheConfigsMeanwhile) {
  const int before = num_threads();
  run_.config.cpu_threads = before + 1;
  int during = 0;
  run_training(run_, {.interrupted = [&] {
                 during = num_threads();
                 return true;
               }});
  EXPECT_EQ(during, before + 1);
  EXPECT_EQ(num_threads(), before);
}

TEST_F(Run, ConfigsAreGivenChangedOrTheFolders) {
  EXPECT_THAT(error_message([] { run_config({}, false, [](TrainConfig&) {}); }),
              HasSubstr("no folder"));
  const auto change = [&](TrainConfig& config) {
    config.model = run_.config.model;
    config.trainer.after = "7u";
  };
  const TrainConfig given = run_config(run_.config, false, change);
  EXPECT_EQ(given.trainer.after, "7u");
  EXPECT_EQ(given.batch_tokens, 12);
  const std::int64_t fresh = TrainConfig{}.batch_tokens;
  EXPECT_EQ(run_config({}, true, change).batch_tokens, fresh) << "there is none to go on with";
  run_for(run_, 1);
  EXPECT_EQ(run_config({}, true, change).batch_tokens, 12);
  EXPECT_EQ(run_config({}, true, change).trainer.after, "7u");
  EXPECT_EQ(run_config({}, false, change).batch_tokens, fresh);
  EXPECT_EQ(run_config(TrainConfig{}, true, change).batch_tokens, fresh);
}

}  // namespace
}  // namespace heed
