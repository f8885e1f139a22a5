#include "heed/training/run.h"

#include <fmt/format.h>

#include <filesystem>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"
#include "heed/io/folder_lock.h"
#include "heed/training/curves.h"
#include "heed/training/event_file.h"
#include "heed/training/make_job.h"

namespace heed {
namespace {

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

RunResult run_training(const TrainingRun& run, const RunHooks& hooks) {
  const TrainConfig& config = run.config;
  config.validate();
  const Checkpoints checkpoints(config.model, config.trainer.keep_last);
  const io::FolderLock lock(config.model, "train");
  checkpoints.remove_leftovers();
  const auto newest = checkpoints.last();
  HEED_CHECK(!newest || run.resume,
             "[train] {} holds checkpoints of an earlier run: to go on with it, resume (--resume); "
             "for a new one give another folder",
             config.model);
  const ThreadCount threads(config.cpu_threads);
  MadeJob made;
  try {
    const InterruptScope scope([&] {
      if (hooks.interrupted()) throw Interrupted();
    });
    made = make_job(config, newest);
  } catch (const Interrupted&) {
    return {.outcome = Outcome::interrupted, .progress = {}};
  }
  for (const std::string& note : made.notes) hooks.note(note);
  hooks.note(
      fmt::format("{} parameters, {} threads", made.job->model().parameter_count(), num_threads()));
  EventWriter events(run.tensorboard, run.tensorboard_freq);
  CurveWriter curves(config.model);
  ConfigWriter used(config);
  TrainingWatchers watchers;
  if (!run.tensorboard.empty()) watchers.add(events);
  watchers.add(curves);
  watchers.add(used);
  if (hooks.watcher != nullptr) watchers.add(*hooks.watcher);
  Trainer trainer(*made.job, config.trainer,
                  {.folder = config.model, .interrupted = hooks.interrupted}, &watchers);
  if (trainer.resume()) {
    hooks.note(fmt::format("going on from update {}", trainer.progress().updates));
  }
  const Outcome outcome = trainer.run();
  return {.outcome = outcome, .progress = trainer.progress()};
}

TrainConfig run_config(const std::optional<TrainConfig>& given, bool resume,
                       const std::function<void(TrainConfig&)>& change) {
  // Not given.value_or(TrainConfig{}): if memory runs out while GCC 12 makes such a temporary, it
  // destroys members that were never made.
  TrainConfig config;
  if (given) config = *given;
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
