// A file that is only appended to. Nothing is buffered: bytes given to write() survive a crash of
// the process.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed::io {

/// A file opened for appending.
class AppendFile {
 public:
  /// Opens a file for appending and creates it if needed; throws heed::Error if it cannot.
  explicit AppendFile(std::filesystem::path path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Appends the bytes without buffering.
  void write(std::string_view bytes);

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace heed::io
