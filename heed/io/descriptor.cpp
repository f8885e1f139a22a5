#include "heed/io/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/retry.h"

namespace heed::io {

namespace fs = std::filesystem;

void fail_with_errno(const char* verb, const fs::path& path) {
  const int code = errno;
  fail("[file] cannot {} {}: {}", verb, path.string(), std::generic_category().message(code));
}

void write_all(int descriptor, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = retry([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (n < 0) fail_with_errno("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

int open_unnamed(const fs::path& directory) {
#ifdef O_TMPFILE
  if (::access("/proc/self/fd", X_OK) != 0) return -1;
  return retry([&] { return ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666); });
#else
  return -1;
#endif
}

// O_EXCL makes the name unique among threads and processes, also if a killed process with the same
// id left a file. Mode 0666 lets the user's umask decide.
std::pair<int, fs::path> open_temporary(const fs::path& directory) {
  for (int n = 0;; ++n) {
    fs::path path = directory / fmt::format(".heed-{}-{}.tmp", ::getpid(), n);
    const int descriptor =
        retry([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
    if (descriptor >= 0) return {descriptor, std::move(path)};
    if (errno != EEXIST) fail_with_errno("create a file in", directory);
  }
}

// A hash (FNV-1a), because names may be as long as the file system allows.
fs::path replacement_name(const fs::path& target) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : target.filename().string()) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return directory_of(target) / fmt::format(".heed-{:016x}.tmp", hash);
}

bool is_leftover(const fs::path& path) {
  const std::string name = path.filename().string();
  long long process = 0;
  int number = 0, length = 0;
  if (std::sscanf(name.c_str(), ".heed-%lld-%d.tmp%n", &process, &number, &length) != 2) {
    return false;
  }
  if (length != std::ssize(name) || process < 1 || !std::in_range<pid_t>(process)) {
    return false;
  }
  return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
}

fs::path directory_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace heed::io
