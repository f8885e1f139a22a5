// A progress bar that redraws itself on a terminal and becomes a line now and then in a file.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace heed::cli {

class Progress {
 public:
  Progress(std::string title, std::int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows that `done` of the total are done; `status` stands behind the bar.
  void update(std::int64_t done, const std::string& status);

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  std::int64_t total_;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

}  // namespace heed::cli
