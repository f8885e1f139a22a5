#include "cli/filter_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "heed/base/error.h"
#include "heed/base/interrupt.h"
#include "heed/base/threads.h"
#include "heed/io/printable.h"
#include "heed/text/unicode.h"

namespace heed::cli {
namespace {

volatile std::sig_atomic_t caught = 0;

extern "C" void note_end(int signal) { caught = signal; }

// Without SA_RESTART, so that waiting for input ends; only once, so that the next signal is not
// caught.
void catch_once(int signal) {
  struct sigaction action {};
  action.sa_handler = note_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(signal, &action, nullptr);
}

// Waits until standard input has data or ends, or until a signal arrives; false after `timeout`
// milliseconds (-1: never).
bool wait_for_input(int timeout) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const int found = ::poll(&input, 1, timeout);
  check_signals();
  return found != 0;
}

bool is_stream(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

void check_signals() {
  if (caught != 0) throw Stopped{static_cast<int>(caught)};
}

void run_filter(const std::function<void()>& work) {
  std::signal(SIGPIPE, SIG_IGN);  // write() then returns an error, and open files can be closed
  catch_once(SIGINT);
  catch_once(SIGTERM);
  int signal = 0;
  try {
    const InterruptScope scope(check_signals);
    work();
  } catch (const Stopped& stopped) {
    signal = stopped.signal;
  }
  if (signal == 0) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Output::Output(const std::string& path) : name_(path == "-" ? "standard output" : path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
  } else if (is_stream(path)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    HEED_CHECK(descriptor_ >= 0, "[output] cannot open {}: {}", path,
               std::generic_category().message(errno));
  } else {
    file_ = std::make_unique<io::AtomicFile>(path);
  }
}

Output::~Output() {
  if (descriptor_ > STDOUT_FILENO) ::close(descriptor_);
}

void Output::write(std::string_view text) {
  check_signals();
  if (file_) {
    file_->write(text);
    return;
  }
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor_, text.data(), text.size());
    if (n < 0 && errno == EINTR) {
      check_signals();
      continue;
    }
    if (n < 0 && errno == EPIPE) throw Stopped{SIGPIPE};
    HEED_CHECK(n >= 0, "[output] cannot write to {}: {}", name_,
               std::generic_category().message(errno));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void Output::commit() {
  if (file_) file_->commit();
}

bool TextLines::next(std::string& line) {
  // read() would continue after a signal; poll() does not.
  if (reader_.name() == "standard input" && !reader_.has_line()) wait_for_input(-1);
  check_signals();
  if (!reader_.next(line)) return false;
  const auto fault = find_fault(line, io::kMaxLineBytes);
  if (!fault || fault->kind == BadLine::empty) return true;
  HEED_CHECK(on_bad_ != OnBadLine::stop,
             "[text] {} {}: mend the file, or give --on-bad skip (an empty line in its place) or "
             "--on-bad mend (U+FFFD in place of bad bytes)",
             reader_.place(), fault->what);
  bad_.add(*fault, reader_.place(), OnBad::skip);
  if (on_bad_ == OnBadLine::skip) {
    line.clear();
    return true;
  }
  std::erase(line, '\0');
  line = unicode::make_valid(line);
  return true;
}

bool TextLines::would_wait() {
  return reader_.name() == "standard input" && !reader_.has_line() && !wait_for_input(0);
}

OnBadLine FilterFlags::policy() const {
  if (on_bad == "skip") return OnBadLine::skip;
  return on_bad == "mend" ? OnBadLine::mend : OnBadLine::stop;
}

void feed_lines(TextLines& lines, const std::function<void(const std::string& line)>& add,
                const std::function<void()>& flush) {
  try {
    for (std::string line; lines.next(line);) {
      add(line);
      if (lines.would_wait()) flush();
    }
  } catch (const Error&) {
    flush();
    throw;
  }
  flush();
}

void add_filter_flags(CLI::App& verb, FilterFlags& flags, const std::string& what) {
  verb.add_option("-i,--input", flags.input, what + "; plain or gzip; -: standard input")
      ->capture_default_str();
  verb.add_option("-o,--output", flags.output,
                  "a file, which appears when it is complete; -: standard output")
      ->capture_default_str();
  verb.add_option("--on-bad", flags.on_bad,
                  "lines with broken UTF-8 or NUL bytes: stop, skip (an empty line in their place) "
                  "or mend")
      ->check(CLI::IsMember({"stop", "skip", "mend"}))
      ->capture_default_str();
}

void add_thread_flag(CLI::App& verb, int& threads) {
  verb.add_option("--cpu-threads", threads, "number of threads; 0: all")
      ->check(CLI::Range(0, kMaxThreads))
      ->capture_default_str();
}

void print_note(std::string_view text) {
  // If standard error is closed or full, nothing can be said.
  std::fputs(fmt::format("heed: {}\n", io::printable_lines(text)).c_str(), stderr);
}

}  // namespace heed::cli
