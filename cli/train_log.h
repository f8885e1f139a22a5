// The output of heed train: a bar on a terminal, lines in a file, JSON for programs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "heed/training/trainer.h"

namespace heed::cli {

struct TrainLogOptions {
  std::int64_t disp_freq = 100;  // updates between lines
  std::string format = "auto";   // bar, plain or json
};

void add_log_options(CLI::App& verb, TrainLogOptions& options);

class TrainLog : public TrainingWatcher {
 public:
  /// Prints a separate line.
  virtual void note(const std::string& text) = 0;
  /// Prints the last line.
  virtual void finish(Outcome outcome, const TrainingProgress& progress) = 0;
};

/// Makes the log of that form; `after` is the end of training, which the bar needs.
std::unique_ptr<TrainLog> make_train_log(const TrainLogOptions& options, const Frequency& after);
/// A log that prints nothing, for ranks other than the first.
std::unique_ptr<TrainLog> make_quiet_log();
/// The log for programs, in train_log_json.cpp: one object per line, to standard output.
std::unique_ptr<TrainLog> make_json_log(std::int64_t disp_freq);

}  // namespace heed::cli
