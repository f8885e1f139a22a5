// Files that are mapped for reading, or written whole or not at all. Every error names the path and
// gives the system's message.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace heed::io {

/// A regular file mapped into memory for reading. Ownership is shared, so that views of its bytes
/// may outlive the code that opened it. If another process truncates the file while it is mapped,
/// reads of the lost part fault (SIGBUS). AtomicFile replaces files and never truncates them.
class MappedFile {
 public:
  /// Maps a file, or throws heed::Error.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// The whole file; aligned to a page.
  std::span<const std::byte> bytes() const { return bytes_; }
  /// Says that a part of bytes() is not needed soon: its pages no longer count as memory of this
  /// process. Reading it again is allowed.
  void forget(std::span<const std::byte> part) const;
  /// The path as it was given.
  const std::filesystem::path& path() const { return path_; }

 private:
  MappedFile(std::filesystem::path path, std::span<const std::byte> bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

/// Reads a whole file, pipe or device into memory; more than max_bytes is an error.
std::string read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Writes a file that appears complete under its name, or not at all: the bytes go to a file
/// without a name in the same directory; commit() syncs it to the disk and gives it its name. To
/// replace a file it is named `.heed-*.tmp` first and renamed. Without commit() an existing file
/// stays unchanged. A process that is killed leaves nothing, except between the last two steps (at
/// any time if all files have names here): then a `.heed-*.tmp`, which the next writer takes.
class AtomicFile {
 public:
  /// Opens the temporary file, or throws heed::Error. A symbolic link is followed: its target is
  /// replaced. The permissions of an existing file are kept.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes.
  void write(std::span<const std::byte> bytes);
  /// Appends text.
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Replaces bytes that were written before.
  void rewrite(std::size_t offset, std::string_view text);
  /// Syncs the file and gives it its name. After this returns, the file survives a power
  /// failure.
  void commit();

 private:
  void replace_target();
  void close();

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty while the file has no name
  int descriptor_ = -1;
};

/// Syncs a directory, so that files created, renamed or removed in it survive a power failure.
void sync_directory(const std::filesystem::path& directory);

/// Writes text to a file with AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace heed::io
