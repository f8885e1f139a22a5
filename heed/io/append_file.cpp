#include "heed/io/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "heed/io/descriptor.h"
#include "heed/io/retry.h"

namespace heed::io {

AppendFile::AppendFile(std::filesystem::path path)
    : path_(std::move(path)), descriptor_(retry([this] {
        return ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
      })) {
  if (descriptor_ < 0) fail_with_errno("open", path_);
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::write(std::string_view bytes) {
  write_all(descriptor_, std::as_bytes(std::span(bytes)), path_);
}

}  // namespace heed::io
