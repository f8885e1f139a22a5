// The safetensors format (github.com/huggingface/safetensors): 8 bytes of header length (little
// endian), a JSON header {"name": {"dtype", "shape", "data_offsets": [begin, end]}, …,
// "__metadata__": {text: text}}, then the bytes of all tensors, row-major, without gaps.
// No tensor type here: names, element types, shapes and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/dtype.h"
#include "heed/base/shape.h"
#include "heed/io/file.h"

namespace heed::io {

/// Texts about a file by name, in the order of the names.
using Metadata = std::map<std::string, std::string>;

/// One tensor in a file.
struct SafetensorsEntry {
  std::string name;
  std::string_view dtype_name;  ///< The file's own name of the type: "F32".
  /// Empty for a type that the format has and heed has not (F16, I8, …): such a tensor is checked
  /// and listed like any other, so that `inspect` can show the file, and find() refuses it.
  std::optional<DType> dtype;
  Shape shape;
  std::span<const std::byte> bytes;  ///< In place; aligned for its dtype.
};

/// What is let pass that a strict reader refuses.
struct SafetensorsOptions {
  bool allow_trailing_bytes = false;  ///< Bytes after the last tensor.
};

/// A file read in place. Nothing in it is believed: ranges must tile the data exactly, sizes must
/// match shapes, each byte of a BOOL must be 0 or 1; errors name the file, the tensor and the byte.
class SafetensorsFile {
 public:
  /// Maps a file and checks it; no tensor data is copied.
  static SafetensorsFile open(const std::filesystem::path& path, SafetensorsOptions options = {});
  /// Checks bytes that the caller keeps alive; `source` names them in messages.
  static SafetensorsFile parse(std::span<const std::byte> bytes, SafetensorsOptions options = {},
                               std::string_view source = "safetensors");

  /// All tensors in the order of the header.
  const std::vector<SafetensorsEntry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }
  bool contains(std::string_view name) const { return lookup(name) != nullptr; }
  /// The tensor of that name; its dtype is set. Throws heed::Error, naming the nearest name there
  /// is, or saying that heed has no such dtype.
  const SafetensorsEntry& find(std::string_view name) const;
  /// Keeps the mapping alive: whoever holds the bytes of an entry longer than this object holds it
  /// too. Null after parse().
  std::shared_ptr<const MappedFile> keeper() const { return keeper_; }

 private:
  SafetensorsFile() = default;
  const SafetensorsEntry* lookup(std::string_view name) const;

  std::string source_;
  std::vector<SafetensorsEntry> entries_;
  std::vector<std::uint32_t> by_name_;  // positions in entries_, sorted by name
  Metadata metadata_;
  std::shared_ptr<const MappedFile> keeper_;
};

/// One tensor to write; the bytes are row-major.
struct SafetensorsItem {
  std::string name;
  DType dtype;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// Writes a file, atomically. The header lists the items as given; their data is laid out by
/// element size, the largest first, which keeps every tensor aligned. Equal input gives equal
/// bytes.
void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsItem> items,
                       const Metadata& metadata = {});

/// The bytes that write_safetensors writes.
std::vector<std::byte> safetensors_bytes(std::span<const SafetensorsItem> items,
                                         const Metadata& metadata = {});

}  // namespace heed::io
