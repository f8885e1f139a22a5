#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <utility>

#include "heed/plot/progress_line.h"

namespace heed::cli {
namespace {

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::milliseconds kLine{5000};
constexpr const char* kClear = "\r\x1b[K";

// Read each time, since windows change their size. The last column stays free, since some terminals
// begin a new line there.
std::int64_t columns_of(std::FILE* stream) {
  constexpr std::int64_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (known ? size.ws_col : kUsual) - 1;
}

}  // namespace

bool is_terminal(std::FILE* stream) {
  const char* const kind = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

Progress::Progress(std::string title, std::int64_t total, const ProgressOptions& options)
    : title_(std::move(title)),
      total_(total),
      options_(options),
      terminal_(options.force || is_terminal(options.stream)),
      done_(options.first) {}

Progress::~Progress() {
  if (terminal_ && drawn_) fmt::print(options_.stream, "\n");
}

void Progress::update(std::int64_t done, std::vector<std::string> parts) {
  done_ = done;
  parts_ = std::move(parts);
  const bool finished = total_ > 0 && done_ >= total_;
  if (finished || Clock::now() - last_ >= (terminal_ ? kRedraw : kLine)) draw();
}

std::string Progress::time_text(Clock::time_point now) const {
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  if (total_ == 0 || done_ >= total_) return plot::duration_text(elapsed);
  if (done_ <= options_.first) return "";
  const double each = elapsed / static_cast<double>(done_ - options_.first);
  return plot::duration_text(each * static_cast<double>(total_ - done_)) + " left";
}

void Progress::draw() {
  last_ = Clock::now();
  drawn_ = true;
  plot::ProgressLine line{.title = title_, .parts = parts_, .time = time_text(last_)};
  if (total_ > 0) line.share = static_cast<double>(done_) / static_cast<double>(total_);
  if (terminal_) {
    fmt::print(options_.stream, "{}{}", kClear,
               plot::progress_text(line, columns_of(options_.stream)));
  } else {
    const std::string percent = line.share ? fmt::format("{:>3.0f} %  ", 100.0 * *line.share) : "";
    fmt::print(options_.stream, "{} {}{}  {}\n", title_, percent, fmt::join(parts_, "  "),
               line.time);
  }
  std::fflush(options_.stream);
}

void Progress::line(const std::string& text) {
  fmt::print(options_.stream, "{}{}\n", terminal_ && drawn_ ? kClear : "", text);
  if (terminal_ && drawn_) draw();
  std::fflush(options_.stream);
}

}  // namespace heed::cli
