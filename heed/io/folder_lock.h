// A lock so that only one process at a time writes into a folder. It is a kernel lock (flock), so
// it is released however the process ends. The lock file stays and holds the id of the last
// process.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed::io {

/// Holds the lock of a folder during its lifetime.
class FolderLock {
 public:
  /// Locks a folder, which must exist, or throws heed::Error that names the process that holds the
  /// lock. `who` is the prefix of messages: "train".
  FolderLock(const std::filesystem::path& folder, std::string_view who);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace heed::io
