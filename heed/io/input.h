// A stream of bytes from a file, a pipe or standard input; what is compressed by gzip, told by its
// first two bytes, comes out unpacked. It hands out what is there as soon as it is there, so that
// filters answer line by line. Not for random access: that is MappedFile in file.h.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace heed::io {

/// Reads one file from its beginning to its end.
class Input {
 public:
  /// Opens a file; "-" is standard input. Throws heed::Error when it cannot.
  explicit Input(const std::filesystem::path& path);
  ~Input();
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;

  /// Fills the front of a buffer and returns how many bytes; 0 only at the end. A file that cannot
  /// be read further, or compressed data that are damaged or cut off, throw heed::Error.
  std::size_t read(std::span<char> buffer);
  /// What messages call the file: its path, or "standard input".
  const std::string& name() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Reads a whole file, plain or gzip, or standard input ("-"); more than max_bytes unpacked is an
/// error.
std::string read_input(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace heed::io
