#include "heed/io/paths.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>

#include "heed/base/error.h"
#include "heed/io/descriptor.h"

namespace heed::io {

namespace fs = std::filesystem;

namespace {

fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  fs::file_status status = fs::status(path, error);
  // A path that is not found is an error too, but one that the status tells.
  HEED_CHECK(fs::status_known(status), "[file] cannot look at {}: {}", path.string(),
             error.message());
  return status;
}

}  // namespace

bool exists(const fs::path& path) { return fs::exists(status_of(path)); }

bool is_folder(const fs::path& path) { return fs::is_directory(status_of(path)); }

std::vector<fs::path> list_folder(const fs::path& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> list(::opendir(folder.c_str()), ::closedir);
  if (!list) fail_with_errno("list", folder);
  std::vector<fs::path> all;
  errno = 0;
  while (const dirent* const entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") all.push_back(folder / name);
    errno = 0;
  }
  if (errno != 0) fail_with_errno("list", folder);
  std::ranges::sort(all);
  return all;
}

void remove_tree(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    fail_with_errno("look at", path);
  }
  const bool is_directory = S_ISDIR(status.st_mode);
  if (is_directory) {
    for (const fs::path& inner : list_folder(path)) remove_tree(inner);
  }
  const int removed = is_directory ? ::rmdir(path.c_str()) : ::unlink(path.c_str());
  if (removed != 0 && errno != ENOENT) fail_with_errno("remove", path);
}

std::string message_of(const fs::filesystem_error& error) {
  const std::string second =
      error.path2().empty() ? "" : fmt::format(" and {}", error.path2().string());
  return fmt::format("[file] {}{}: {}", error.path1().string(), second, error.code().message());
}

}  // namespace heed::io
