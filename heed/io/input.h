// A stream of text from a file, a pipe or standard input. Gzip data, recognised by the first two
// bytes, is decompressed: one or several members, also with zero bytes after them. Bytes are
// returned as soon as they are available, so that filters answer line by line. For random access
// use MappedFile in file.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace heed::io {

/// What happens to a byte order mark, U+FEFF at the beginning of a text, which editors on Windows
/// write. It is not part of the first line.
enum class ByteOrderMark : std::uint8_t { remove, keep };

/// Reads one file from its beginning to its end.
class Input {
 public:
  /// Opens a file; "-" is standard input. Throws heed::Error on failure.
  explicit Input(const std::filesystem::path& path, ByteOrderMark mark = ByteOrderMark::remove);
  ~Input();
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;

  /// Reads into the start of a buffer and returns the number of bytes; 0 only at the end. Read
  /// errors and compressed data that is damaged or truncated throw heed::Error. Calls
  /// check_interrupt().
  std::size_t read(std::span<char> buffer);
  /// The same for bytes that were read from the file before: it never waits for the file. 0: there
  /// are none.
  std::size_t read_buffered(std::span<char> buffer);
  /// The name of the file in messages: its path, or "standard input".
  const std::string& name() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Reads a whole file, plain or gzip, or standard input ("-"), without a byte order mark; more than
/// max_bytes after decompression is an error.
std::string read_input(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace heed::io
