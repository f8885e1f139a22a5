#include "heed/io/paths.h"

#include <algorithm>
#include <system_error>

#include "heed/base/error.h"

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
  std::vector<fs::path> all;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    all.push_back(at->path());
  }
  HEED_CHECK(!error, "[file] cannot list {}: {}", folder.string(), error.message());
  std::ranges::sort(all);
  return all;
}

std::string message_of(const fs::filesystem_error& error) {
  const std::string second =
      error.path2().empty() ? "" : fmt::format(" and {}", error.path2().string());
  return fmt::format("[file] {}{}: {}", error.path1().string(), second, error.code().message());
}

}  // namespace heed::io
