// One training run as the program does it: a locked folder, a log, curves, and signals that make it
// save and end.
#pragma once

#include <filesystem>
#include <string>

#include "cli/train_log.h"
#include "heed/training/train_config.h"

namespace heed::cli {

/// The config that a run was made with, in its folder.
inline constexpr const char* kUsedConfig = "train.toml";

struct TrainingRun {
  TrainConfig config;
  bool resume = false;  ///< Goes on with the checkpoints of the folder, if there are any.
  TrainLogOptions log = {};
  std::string tensorboard = {};  ///< A folder for event files; empty: none.
};

/// Trains until the config's end or a signal.
Outcome run_training(const TrainingRun& run);

}  // namespace heed::cli
