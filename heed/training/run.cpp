#include "heed/training/run.h"

#include <fmt/format.h>

#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/threads.h"
#include "heed/distributed/collectives.h"
#include "heed/io/config.h"
#include "heed/io/folder_lock.h"
#include "heed/training/curves.h"
#include "heed/training/event_file.h"
#include "heed/training/make_job.h"
#include "heed/training/rank_checks.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Sets the number of threads while it lives; 0: no change.
class ThreadCount {
 public:
  explicit ThreadCount(std::int64_t threads) : before_(num_threads()) {
    if (threads > 0) set_num_threads(static_cast<int>(threads));
  }
  ~ThreadCount() { set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

// Writes the config of the run into its folder when training begins. Everything has been checked by
// then, so that a run with settings that are refused leaves the earlier config as it was.
class ConfigWriter : public TrainingWatcher {
 public:
  explicit ConfigWriter(const TrainConfig& config) : config_(config) {}
  void began(std::int64_t) override {
    io::save_config(std::filesystem::path(config_.model) / kUsedConfig, config_);
  }

 private:
  const TrainConfig& config_;
};

}  // namespace

namespace {

// Shards of a batch under MPI, if the config does not say how many: for up to as many ranks.
constexpr std::int64_t kShardsOfRanks = 8;

// The number that a config leaves open. A run that goes on has the one it began with: others would
// give another model.
std::int64_t chosen_shards(const TrainingRun& run, const std::optional<fs::path>& newest) {
  const std::int64_t given = run.config.trainer.shards;
  if (given > 0) return given;
  if (!newest) return run.ranks != nullptr ? kShardsOfRanks : 1;
  TrainingProgress progress;
  io::load_config(*newest / kProgressFile, progress);
  return progress.shards;
}

// The folder of a run, which rank 0 locks and cleans.
class RunFolder {
 public:
  RunFolder(const TrainConfig& config, Communicator& ranks, bool resume) {
    std::string newest;
    together(ranks, [&] {
      config.validate();
      const Checkpoints checkpoints(config.model, config.trainer.keep_last);
      if (!ranks.is_first()) return;
      lock_.emplace(config.model, "train");
      checkpoints.remove_leftovers();
      if (const auto last = checkpoints.last()) newest = last->string();
      HEED_CHECK(newest.empty() || resume,
                 "[train] {} holds checkpoints of an earlier run: to go on with it, resume "
                 "(--resume); for a new one give another folder",
                 config.model);
    });
    newest = text_of_first(ranks, newest);
    if (!newest.empty()) newest_ = newest;
  }

  const std::optional<fs::path>& newest() const { return newest_; }

 private:
  std::optional<io::FolderLock> lock_;
  std::optional<fs::path> newest_;
};

}  // namespace

RunResult run_training(const TrainingRun& run, const RunHooks& hooks) {
  SingleRank alone;
  Communicator& ranks = run.ranks != nullptr ? *run.ranks : alone;
  ranks.set_deadline(run.config.trainer.rank_deadline);
  check_same_start(ranks, run.config);
  const RunFolder folder(run.config, ranks, run.resume);
  check_shared_folder(ranks, run.config.model);
  TrainConfig config = run.config;
  // Written into the folder of the run, so that it resumes with the same number.
  const std::int64_t shards = chosen_shards(run, folder.newest());
  if (shards > 1) config.trainer.shards = shards;
  const ThreadCount threads(config.cpu_threads);
  MadeJob made;
  try {
    together(ranks, [&] {
      const InterruptScope scope([&] {
        if (hooks.interrupted()) throw Interrupted();
      });
      made = make_job(config, folder.newest());
    });
  } catch (const Interrupted&) {
    return {.outcome = Outcome::interrupted, .progress = {}};
  }
  check_same_parameters(ranks, made.job->model());
  for (const std::string& note : made.notes) hooks.note(note);
  hooks.note(
      fmt::format("{} parameters, {} threads", made.job->model().parameter_count(), num_threads()));
  if (shards > 1 || ranks.size() > 1) {
    hooks.note(fmt::format("{} ranks, {} shards of a batch", ranks.size(), shards));
  }
  EventWriter events(ranks.is_first() ? run.tensorboard : "", run.tensorboard_freq);
  CurveWriter curves(config.model);
  ConfigWriter used(config);
  TrainingWatchers watchers;
  if (ranks.is_first()) {
    if (!run.tensorboard.empty()) watchers.add(events);
    watchers.add(curves);
    watchers.add(used);
  }
  if (hooks.watcher != nullptr) watchers.add(*hooks.watcher);
  std::optional<Trainer> trainer;
  together(ranks, [&] {
    trainer.emplace(
        *made.job, config.trainer,
        TrainerPlace{.folder = config.model, .interrupted = hooks.interrupted, .ranks = &ranks},
        &watchers);
  });
  together(ranks, [&] {
    if (!trainer->resume()) return;
    hooks.note(fmt::format("going on from update {}", trainer->progress().updates));
  });
  const Outcome outcome = trainer->run();
  return {.outcome = outcome, .progress = trainer->progress()};
}

TrainConfig run_config(const std::optional<TrainConfig>& given, bool resume,
                       const std::function<void(TrainConfig&)>& change) {
  TrainConfig config = given.value_or(TrainConfig());
  change(config);
  HEED_CHECK(!config.model.empty(), "[train] no folder to train into: give model (--model DIR)");
  const std::filesystem::path used = std::filesystem::path(config.model) / kUsedConfig;
  if (given || !resume || !std::filesystem::exists(used)) return config;
  TrainConfig before;
  io::load_config(used, before);
  change(before);
  return before;
}

}  // namespace heed
