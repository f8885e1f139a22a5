// Files as the rest of heed meets them: mapped for reading, or written whole or not at all.
// Every error names the path and what the system said.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace heed::io {

/// A regular file mapped into memory for reading. It is shared, so that views of its bytes may
/// outlive whoever opened it. A file that somebody shortens in place while it is mapped makes reads
/// of the lost part fault (SIGBUS); AtomicFile never does that, it replaces.
class MappedFile {
 public:
  /// Maps a file, or throws heed::Error.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// The whole file; aligned to a page.
  std::span<const std::byte> bytes() const { return bytes_; }
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

/// Writes a file that appears complete under its name, or not at all: the bytes go to a temporary
/// name in the same directory; commit() syncs them to the disk and renames. Without commit() the
/// temporary is removed and a file already there stays as it was. A process killed in between
/// leaves at most a stray `.heed-*.tmp`.
class AtomicFile {
 public:
  /// Opens the temporary, or throws heed::Error. A symbolic link is followed: what it points to is
  /// replaced. An existing file's permissions are kept.
  explicit AtomicFile(std::filesystem::path target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends bytes.
  void write(std::span<const std::byte> bytes);
  /// Appends text.
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Makes the file appear under its name, durably: when this returns it survives a power cut.
  void commit();

 private:
  void close();

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Makes the names in a directory durable: what was created, renamed or removed there survives a
/// power cut.
void sync_directory(const std::filesystem::path& directory);

/// Writes text to a file with AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace heed::io
