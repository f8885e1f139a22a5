#include "heed/io/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "heed/base/error.h"
#include "heed/io/retry.h"

namespace heed::io {
namespace {

constexpr const char* kLockFile = ".heed-lock";

// The process id that the holder wrote; empty if it has not written it yet.
std::string holder_of(int descriptor) {
  char text[24];
  const ssize_t count = ::pread(descriptor, text, sizeof text, 0);
  std::string number;
  for (ssize_t i = 0; i < count && text[i] >= '0' && text[i] <= '9'; ++i) number += text[i];
  return number;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder, std::string_view who)
    : descriptor_(retry([&] {
        return ::open((folder / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      })) {
  int code = errno;
  HEED_CHECK(descriptor_ >= 0, "[{}] cannot write into {}: {}", who, folder.string(),
             std::generic_category().message(code));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    code = errno;
    const std::string holder = holder_of(descriptor_);
    ::close(descriptor_);
    HEED_CHECK(code != EWOULDBLOCK,
               "[{}] process {} is using {}: wait until it ends, stop it (kill {}) or choose "
               "another folder",
               who, holder.empty() ? "unknown" : holder, folder.string(),
               holder.empty() ? "PID" : holder);
    fail("[{}] cannot lock {}: {}: choose a folder on another file system", who, folder.string(),
         std::generic_category().message(code));
  }
  const std::string number = fmt::format("{}\n", ::getpid());
  // Used only in messages, so a failure to write it is ignored.
  [[maybe_unused]] const bool written = ::ftruncate(descriptor_, 0) == 0 &&
                                        ::pwrite(descriptor_, number.data(), number.size(), 0) > 0;
}

FolderLock::~FolderLock() { ::close(descriptor_); }

}  // namespace heed::io
