// The child writes its result, and separately all that is printed, into unnamed files in memory.
// Unlike pipes they need nobody who reads meanwhile, and no other child can keep them open.
#include "heed/io/isolated.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <system_error>

#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/printable.h"
#include "heed/io/retry.h"

namespace heed::io {
namespace {

#ifdef __SANITIZE_THREAD__
constexpr bool kMayFork = false;
#else
constexpr bool kMayFork = true;
#endif

// How the work ended: the first byte of the child's answer, which is written last.
enum class Outcome : char { none = 0, result, error, no_memory, refused, exception };

class MemoryFile {
 public:
  MemoryFile() {
    const int made = ::memfd_create("heed", MFD_CLOEXEC);
    if (made < 0) fail_with_errno("create a file in", "memory");
    // In a process without standard output it may have got that number, which the child needs.
    descriptor_ = ::fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    ::close(made);
    if (descriptor_ < 0) fail_with_errno("create a file in", "memory");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int get() const { return descriptor_; }
  std::string content() const {
    std::string text;
    std::array<char, 1 << 16> block;
    while (true) {
      const ssize_t n =
          ::pread(descriptor_, block.data(), block.size(), static_cast<off_t>(text.size()));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail_with_errno("read", "memory");
      if (n == 0) return text;
      text.append(block.data(), static_cast<std::size_t>(n));
    }
  }

 private:
  int descriptor_ = -1;
};

void write_answer(int descriptor, Outcome outcome, std::string_view text) {
  const char none = static_cast<char>(Outcome::none);
  const char kind = static_cast<char>(outcome);
  // An answer that could not be written may be there in part.
  if (::ftruncate(descriptor, 0) < 0 || ::lseek(descriptor, 0, SEEK_SET) < 0) {
    fail_with_errno("write", "memory");
  }
  write_all(descriptor, std::as_bytes(std::span(&none, 1)), "memory");
  write_all(descriptor, std::as_bytes(std::span(text)), "memory");
  if (retry([&] { return ::pwrite(descriptor, &kind, 1, 0); }) != 1) {
    fail_with_errno("write", "memory");
  }
}

// Handlers of the parent are not for the child; an interrupt ends it.
void become_plain_process(pid_t parent, int printed) {
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPIPE}) {
    ::signal(number, SIG_DFL);
  }
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (::getppid() != parent) ::_exit(1);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::dup2(printed, STDOUT_FILENO);
  ::dup2(printed, STDERR_FILENO);
  // exit() would flush the parent's streams a second time and destroy its objects. Functions given
  // to atexit() run from the last to the first, so this one prevents all others.
  std::atexit([] { ::_exit(1); });
}

[[noreturn]] void run_child(int answer, FunctionRef<std::string()> work) noexcept {
  try {
    try {
      write_answer(answer, Outcome::result, work());
    } catch (const Error& error) {
      write_answer(answer, Outcome::error, error.what());
    } catch (const std::bad_alloc&) {
      write_answer(answer, Outcome::no_memory, "");
    } catch (const std::system_error& error) {  // such as a thread that cannot start
      write_answer(answer, Outcome::refused, error.code().message());
    } catch (const std::exception& error) {
      write_answer(answer, Outcome::exception, error.what());
    }
  } catch (...) {
    ::_exit(1);  // the answer could not be written
  }
  ::_exit(0);
}

// None if the process ignores SIGCHLD, or waits for all its children: then nobody knows.
std::optional<int> wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return status;
}

[[noreturn]] void fail_ended(std::string_view task, std::optional<int> status,
                             std::string printed) {
  constexpr std::size_t kMost = 600;
  while (!printed.empty() && (printed.back() == '\n' || printed.back() == ' ')) printed.pop_back();
  if (printed.size() > kMost) printed.erase(0, printed.size() - kMost);
  std::string how = "ended without an answer";
  if (status && WIFSIGNALED(*status)) {
    how = fmt::format("was stopped by signal {} ({})", WTERMSIG(*status),
                      ::strsignal(WTERMSIG(*status)));
  }
  fail("{} {}{}", task, how, printed.empty() ? "" : fmt::format(": {}", printable_lines(printed)));
}

}  // namespace

std::string run_isolated(std::string_view task, FunctionRef<std::string()> work) {
  if (!kMayFork) return work();
  const MemoryFile answer, printed;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    become_plain_process(parent, printed.get());
    run_child(answer.get(), work);
  }
  const int code = errno;
  HEED_CHECK(child > 0, "{} cannot start a process: {}", task,
             std::generic_category().message(code));
  const std::optional<int> status = wait_for(child);
  const std::string text = answer.content();
  switch (text.empty() ? Outcome::none : static_cast<Outcome>(text[0])) {
    case Outcome::result:
      return text.substr(1);
    case Outcome::error:
      throw Error(text.substr(1));
    case Outcome::no_memory:
      throw std::bad_alloc();
    case Outcome::refused:
      fail("{} failed: {}", task, text.substr(1));
    case Outcome::exception:
      throw std::runtime_error(text.substr(1));
    case Outcome::none:
      break;
  }
  fail_ended(task, status, printed.content());
}

}  // namespace heed::io
