// A progress bar that redraws itself over the width of a terminal, or prints a line at intervals
// into a file.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace heed::cli {

/// Whether a line can be redrawn on this stream.
bool is_terminal(std::FILE* stream);

struct ProgressOptions {
  std::FILE* stream = stdout;
  std::int64_t first = 0;  // done before the start, not used to estimate the time left
  bool force = false;      // draw a bar on any stream
};

class Progress {
 public:
  /// A total of 0 means unknown.
  Progress(std::string title, std::int64_t total, const ProgressOptions& options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Sets how much of the total is done. The parts are printed after the bar, the most important
  /// first. It is drawn at most ten times a second.
  void update(std::int64_t done, std::vector<std::string> parts);
  void update(std::int64_t done, const std::string& part) { update(done, std::vector{part}); }
  /// Draws the last state at once.
  void draw();
  /// Prints a separate line above the bar.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  std::string time_text(Clock::time_point now) const;

  std::string title_;
  std::int64_t total_;
  ProgressOptions options_;
  bool terminal_;
  bool drawn_ = false;
  std::int64_t done_ = 0;
  std::vector<std::string> parts_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = {};
};

}  // namespace heed::cli
