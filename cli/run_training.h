// One training run of the program: with a log, and with signals that make it save and stop.
#pragma once

#include <string>

#include "cli/train_log.h"
#include "heed/training/run.h"

namespace heed::cli {

struct LoggedRun {
  TrainConfig config;
  bool resume = false;  ///< Continues from the checkpoints of the folder, if there are any.
  TrainLogOptions log = {};
  std::string tensorboard = {};  ///< A folder for event files; empty: none.
};

/// Trains until the config's end or a signal.
Outcome run_training(const LoggedRun& run);

}  // namespace heed::cli
