// A file that grows by whole pieces: what write() was given survives the death of the process.
#pragma once

#include <filesystem>
#include <string_view>

namespace heed::io {

class AppendFile {
 public:
  /// Opens a file to write behind what it holds, or makes it; throws heed::Error where neither
  /// can be.
  explicit AppendFile(std::filesystem::path path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// Appends the bytes, with nothing kept back.
  void write(std::string_view bytes);

 private:
  std::filesystem::path path_;
  int descriptor_;
};

}  // namespace heed::io
