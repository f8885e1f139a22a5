// One training run as the program does it: with a log, and signals that make it save and end.
#pragma once

#include <string>

#include "cli/train_log.h"
#include "heed/training/run.h"

namespace heed::cli {

struct LoggedRun {
  TrainConfig config;
  bool resume = false;  ///< Goes on with the checkpoints of the folder, if there are any.
  TrainLogOptions log = {};
  std::string tensorboard = {};  ///< A folder for event files; empty: none.
};

/// Trains until the config's end or a signal.
Outcome run_training(const LoggedRun& run);

}  // namespace heed::cli
