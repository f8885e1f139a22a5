#include "heed/serve/access_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <string_view>
#include <system_error>

#include "heed/base/error.h"
#include "heed/io/json.h"
#include "heed/text/unicode.h"

namespace heed::serve {
namespace {

constexpr std::size_t kMostWaiting = 4 << 20;  // bytes

std::string quoted(const std::string& text) { return io::quote_json(unicode::make_valid(text)); }

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03d}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms.count() % 1000);
}

}  // namespace

std::string log_line(const HttpRequest& request, const Facts& facts, const AnswerFacts& answer,
                     const std::string& time) {
  return fmt::format(
      "{{\"time\":\"{}\",\"address\":{},\"client\":{},\"method\":{},\"path\":{},\"status\":{},"
      "\"bytes\":{},\"ms\":{:.3f},\"complete\":{},\"model\":{},\"tokens_read\":{},"
      "\"tokens_written\":{},\"refusal\":{}}}\n",
      time, quoted(request.address), quoted(facts.client), quoted(request.method),
      quoted(request.path), answer.status, answer.bytes, 1000 * answer.seconds, answer.is_complete,
      quoted(facts.model), facts.tokens_read, facts.tokens_written, quoted(facts.refusal));
}

AccessLog::File::~File() {
  if (descriptor > STDERR_FILENO) ::close(descriptor);
}

AccessLog::AccessLog(std::string path) : path_(std::move(path)) {
  reopen();
  if (!path_.empty()) thread_ = std::thread([this] { run(); });
}

AccessLog::~AccessLog() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void AccessLog::reopen() {
  if (path_.empty()) return;
  int fresh = STDERR_FILENO;
  if (path_ != "-") {
    fresh = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    HEED_CHECK(fresh >= 0, "[serve] cannot open the access log {}: {}", path_,
               std::generic_category().message(errno));
  }
  const std::lock_guard lock(mutex_);
  file_ = std::make_shared<File>(fresh);
}

void AccessLog::add(const HttpRequest& request, const Facts& facts, const AnswerFacts& answer) {
  if (path_.empty()) return;
  const std::string time = time_now();
  std::string line = log_line(request, facts, answer, time);
  const std::lock_guard lock(mutex_);
  if (bytes_ + line.size() > kMostWaiting) {
    ++lost_;
    return;
  }
  if (lost_ > 0) {
    line.insert(0, fmt::format("{{\"time\":\"{}\",\"lines_left_out\":{}}}\n", time, lost_));
    lost_ = 0;
  }
  if (waiting_.empty() || waiting_.back().file != file_) waiting_.push_back({file_, {}});
  waiting_.back().text += line;
  bytes_ += line.size();
  changed_.notify_all();
}

void AccessLog::flush() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.empty() && !is_writing_; });
}

void AccessLog::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const Lines lines = std::move(waiting_.front());
    waiting_.pop_front();
    is_writing_ = true;
    lock.unlock();
    write(lines);
    lock.lock();
    bytes_ -= lines.text.size();
    is_writing_ = false;
    changed_.notify_all();
  }
}

// A pipe that is ready takes this many bytes without waiting. A log that cannot be written must not
// stop the server, so errors are not told.
void AccessLog::write(const Lines& lines) {
  for (std::string_view rest = lines.text; !rest.empty() && is_ready(*lines.file);) {
    const auto written =
        ::write(lines.file->descriptor, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

// Waits until something can be written; false if the server ends meanwhile.
bool AccessLog::is_ready(const File& file) {
  constexpr int kPatience = 200;  // milliseconds
  for (;;) {
    pollfd poll{.fd = file.descriptor, .events = POLLOUT, .revents = 0};
    if (::poll(&poll, 1, kPatience) > 0) return true;
    const std::lock_guard lock(mutex_);
    if (is_ending_) return false;
  }
}

}  // namespace heed::serve
