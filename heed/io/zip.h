// Zip archives whose entries are stored without compression, read in place: the form in which
// PyTorch saves tensors. The central directory at the end of the archive is the list of entries;
// for large archives it has 64-bit fields (zip64). Compressed, encrypted and multi-part archives
// are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::io {

/// A file in an archive.
struct ZipEntry {
  std::string_view name;             ///< In the archive.
  std::span<const std::byte> bytes;  ///< In the archive.
  std::uint32_t crc = 0;             ///< Of the bytes; see check_crc().
};

/// The entries of an archive. Each must lie within the file and before the central directory, and
/// none may overlap another; no two have the same name. The bytes are not compared with their
/// checksums, because that would read the whole file.
class ZipArchive {
 public:
  /// Checks an archive that the caller keeps alive. `format` and `source` begin messages:
  /// "[torch] model.bin: …".
  static ZipArchive parse(std::span<const std::byte> bytes, std::string_view format,
                          std::string_view source);

  /// Sorted by name.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The entry of that name, or null.
  const ZipEntry* find(std::string_view name) const;
  /// Throws if the bytes of an entry do not have its checksum.
  void check_crc(const ZipEntry& entry) const;

 private:
  std::string format_;
  std::string source_;
  std::vector<ZipEntry> entries_;
};

}  // namespace heed::io
