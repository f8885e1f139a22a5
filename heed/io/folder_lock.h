// A folder that one process at a time may write into. The lock is the kernel's (flock), so that it
// goes with the process however that ends; the file that carries it stays and says who had it last.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed::io {

class FolderLock {
 public:
  /// Takes the lock of a folder, which must exist, or throws heed::Error that names the process
  /// that has it. `who` is the name in messages: "train".
  FolderLock(const std::filesystem::path& folder, std::string_view who);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace heed::io
