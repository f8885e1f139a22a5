// A complete training run: its folder, the job that its config describes, and curves and event
// files next to the checkpoints. The caller displays the progress and may stop the run early.
//
//   const RunResult result = run_training({.config = config, .resume = true});
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "heed/training/progress.h"
#include "heed/training/train_config.h"
#include "heed/training/trainer.h"

namespace heed {

/// The config that a run was started with, in its folder.
inline constexpr const char* kUsedConfig = "train.toml";

struct TrainingRun {
  TrainConfig config;
  bool resume = false;  ///< Continues from the checkpoints of the folder, if there are any.
  std::string tensorboard = {};         ///< A folder for event files; empty: none.
  std::int64_t tensorboard_freq = 100;  ///< Number of updates that an event averages.
  /// The processes that train together; null: this one alone. Rank 0 writes all files.
  Communicator* ranks = nullptr;
};

/// The callbacks of a run; all are called in the training thread, and watchers on rank 0 alone.
struct RunHooks {
  /// Receives notes: what was read, the size of the model, where the run resumes.
  std::function<void(const std::string& text)> note = [](const std::string&) {};
  TrainingWatcher* watcher = nullptr;
  /// Whether the run should stop; called often, also while the data are read and inside an update
  /// or a validation.
  std::function<bool()> interrupted = [] { return false; };
};

struct RunResult {
  Outcome outcome = Outcome::finished;
  TrainingProgress progress;
};

/// Trains until the config's end, early stopping or an interruption; the last state is saved.
/// Throws for a folder with checkpoints unless the run resumes. A run that is refused leaves the
/// files of its folder unchanged. The number of threads is that of the config during the run. Ranks
/// that differ in version, instruction set, config, data or model, and a folder that they do not
/// share, are errors before the first update.
RunResult run_training(const TrainingRun& run, const RunHooks& hooks = {});

/// The config of a run: the given one, with changes applied. A run that resumes without a given
/// config uses the config of its folder.
TrainConfig run_config(const std::optional<TrainConfig>& given, bool resume,
                       const std::function<void(TrainConfig&)>& change);

}  // namespace heed
