// The safetensors format (github.com/huggingface/safetensors): 8 bytes of header length (little
// endian), a JSON header {"name": {"dtype", "shape", "data_offsets": [begin, end]}, …,
// "__metadata__": {text: text}}, then the bytes of all tensors, row-major, without gaps. This file
// does not use Tensor, only names, element types, shapes and bytes.
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
#include "heed/io/tensor_type.h"

namespace heed::io {

/// Texts stored with a file, sorted by key.
using Metadata = std::map<std::string, std::string>;

/// One tensor in a file.
struct SafetensorsEntry {
  std::string name;
  std::string_view dtype_name;  ///< The name of the type in the file: "F32".
  /// Empty for a type that heed does not support (F16, I8, …). Such a tensor is checked and listed
  /// like any other, so that `inspect` can show the file, but find() throws.
  std::optional<DType> dtype;
  Shape shape;
  std::span<const std::byte> bytes;  ///< In the mapped file; aligned for its dtype.
};

/// Relaxations of the strict checks.
struct SafetensorsOptions {
  bool allow_trailing_bytes = false;  ///< Accept bytes after the last tensor.
};

/// A file that is read in place. Everything is checked: ranges must cover the data exactly, sizes
/// must match shapes, each byte of a BOOL must be 0 or 1. Errors name the file, the tensor and the
/// byte.
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
  /// The tensor of that name, with dtype set. Throws heed::Error if it does not exist (the message
  /// suggests the nearest name) or if heed does not support its dtype.
  const SafetensorsEntry& find(std::string_view name) const;
  /// Keeps the mapping alive. Hold it to use the bytes of an entry longer than this object lives.
  /// Null after parse().
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

/// One tensor to write; the bytes are row-major. The type may be one that tensors of heed do not
/// have, such as I8 of quantised weights.
struct SafetensorsItem {
  std::string name;
  TensorType type;
  Shape shape;
  std::span<const std::byte> bytes;
};

/// Writes a file atomically. The header lists the items in the given order. Their data is ordered
/// by element size, largest first, which keeps every tensor aligned. Equal input gives equal bytes.
void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsItem> items,
                       const Metadata& metadata = {});

/// The bytes that write_safetensors writes.
std::vector<std::byte> safetensors_bytes(std::span<const SafetensorsItem> items,
                                         const Metadata& metadata = {});

}  // namespace heed::io
