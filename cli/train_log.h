// What heed train says: a line now and then, in a form for people or for programs.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "heed/training/trainer.h"

namespace heed::cli {

struct TrainLogOptions {
  std::int64_t disp_freq = 100;  // updates between lines
};

void add_log_options(CLI::App& verb, TrainLogOptions& options);

class TrainLog : public TrainingWatcher {
 public:
  explicit TrainLog(const TrainLogOptions& options) : options_(options) {}

  /// A line of its own.
  void note(const std::string& text);
  void updated(const UpdateReport& report) override;
  void validated(const ValidationReport& report) override;
  void saved(const std::filesystem::path& folder) override;
  /// The last words.
  void finish(Outcome outcome, const TrainingProgress& progress);

 private:
  TrainLogOptions options_;
  UpdateReport sum_;  // of the updates since the last line
  std::int64_t count_ = 0;
};

}  // namespace heed::cli
