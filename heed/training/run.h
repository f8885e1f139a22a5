// A training run as a whole: the folder it has to itself, the job that its config describes, curves
// and event files beside the checkpoints. Who shows it, and who ends it early, is the caller's
// affair.
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

/// The config that a run was made with, in its folder.
inline constexpr const char* kUsedConfig = "train.toml";

struct TrainingRun {
  TrainConfig config;
  bool resume = false;           ///< Goes on with the checkpoints of the folder, if there are any.
  std::string tensorboard = {};  ///< A folder for event files; empty: none.
  std::int64_t tensorboard_freq = 100;  ///< Updates that an event is the mean of.
};

/// Who is told of a run, and who may end it; all in the thread that trains.
struct RunHooks {
  /// What was read, how large the model is, where the run goes on.
  std::function<void(const std::string& text)> note = [](const std::string&) {};
  TrainingWatcher* watcher = nullptr;
  std::function<bool()> interrupted = [] { return false; };  ///< Asked before each update.
};

struct RunResult {
  Outcome outcome = Outcome::finished;
  TrainingProgress progress;
};

/// Trains until the config's end, early stopping or an interruption; the last state is saved. A
/// folder with checkpoints is refused unless the run resumes. The number of threads is the config's
/// meanwhile.
RunResult run_training(const TrainingRun& run, const RunHooks& hooks = {});

/// The config of a run: what is given and what is changed over it. A run that resumes with nothing
/// given has the config of its folder.
TrainConfig run_config(const std::optional<TrainConfig>& given, bool resume,
                       const std::function<void(TrainConfig&)>& change);

}  // namespace heed
