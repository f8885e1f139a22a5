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
  std::string tensorboard = {};   ///< A folder for event files; empty: none.
  Communicator* ranks = nullptr;  ///< The processes that train together; null: this one alone.
};

/// Trains until the config's end or a signal to one of the ranks: SIGINT, SIGTERM, or SIGUSR1,
/// which batch systems send before the time is over. Rank 0 alone prints.
Outcome run_training(const LoggedRun& run);

}  // namespace heed::cli
