#include "heed/io/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "heed/base/error.h"

namespace heed::io {

AppendFile::AppendFile(std::filesystem::path path)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
  const int code = errno;
  HEED_CHECK(descriptor_ >= 0, "[file] cannot open {}: {}", path_.string(),
             std::generic_category().message(code));
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    const int code = errno;
    if (count < 0 && code == EINTR) continue;
    HEED_CHECK(count >= 0, "[file] cannot write {}: {}", path_.string(),
               std::generic_category().message(code));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace heed::io
