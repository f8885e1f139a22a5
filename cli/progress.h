// A progress bar that redraws itself on a terminal, as wide as that is, and becomes a line now and
// then in a file.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace heed::cli {

/// Whether a line can be drawn anew there.
bool is_terminal(std::FILE* stream);

struct ProgressOptions {
  std::FILE* stream = stdout;
  std::int64_t first = 0;  // what was done before, which says nothing of the time left
  bool force = false;      // a bar, whatever the stream is
};

class Progress {
 public:
  /// A total of 0: nobody knows.
  Progress(std::string title, std::int64_t total, const ProgressOptions& options = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So much of the total is done; the parts stand behind the bar, the most important first. It is
  /// not drawn more than ten times a second.
  void update(std::int64_t done, std::vector<std::string> parts);
  void update(std::int64_t done, const std::string& part) { update(done, std::vector{part}); }
  /// Draws at once what was told last.
  void draw();
  /// A line of its own, above the bar.
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
