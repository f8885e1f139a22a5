#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace heed::cli {
namespace {

constexpr int kWidth = 28;
constexpr std::chrono::milliseconds kRedraw{80};
constexpr std::chrono::seconds kLine{5};

std::string bar(double share) {
  const int full = static_cast<int>(share * kWidth + 0.5);
  std::string text;
  for (int i = 0; i < kWidth; ++i) text += i < full ? "━" : "╌";
  return text;
}

}  // namespace

Progress::Progress(std::string title, std::int64_t total)
    : title_(std::move(title)),
      total_(std::max<std::int64_t>(total, 1)),
      terminal_(isatty(STDOUT_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_ && drawn_) fmt::print("\n");
}

void Progress::update(std::int64_t done, const std::string& status) {
  const auto now = Clock::now();
  const bool finished = done >= total_;
  if (!finished &&
      now - last_ <
          (terminal_ ? kRedraw : std::chrono::duration_cast<std::chrono::milliseconds>(kLine))) {
    return;
  }
  last_ = now;
  drawn_ = true;
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = share > 0 ? elapsed / share * (1.0 - share) : 0.0;
  const std::string time =
      finished ? fmt::format("{:.1f} s", elapsed) : fmt::format("{:.0f} s left", left);
  if (terminal_) {
    fmt::print("\r\x1b[K{} {} {:>3.0f} %  {}  {}", title_, bar(share), share * 100, status, time);
  } else {
    fmt::print("{} {:>3.0f} %  {}  {}\n", title_, share * 100, status, time);
  }
  std::fflush(stdout);
}

}  // namespace heed::cli
