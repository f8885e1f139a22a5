// The GGUF format of llama.cpp, versions 2 and 3, little endian: the magic "GGUF", the version, the
// counts of tensors and metadata keys, the metadata, a table of tensors (name, sizes, type,
// offset), and the data of the tensors, each at a multiple of the alignment ("general.alignment",
// 32 by default).
//
// The table gives the sizes of a tensor with the fastest axis first: a matrix of 2 rows and 3
// columns is {3, 2}. This reader reverses them, so that the shape is [2, 3] as everywhere else in
// heed; the bytes are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heed/io/file.h"
#include "heed/io/gguf_metadata.h"
#include "heed/io/tensor_entry.h"

namespace heed::io {

/// Relaxations of the strict checks.
struct GgufOptions {
  bool allow_trailing_bytes = false;  ///< Accept bytes after the last tensor.
};

/// A file that is read in place. Everything is checked: counts, types, sizes, names that occur
/// twice, offsets. The tensors must cover the data in some order, with only padding to the
/// alignment between them. Errors name the file, the tensor and the byte.
class GgufFile {
 public:
  /// Maps a file and checks it; no tensor data is copied or read.
  static GgufFile open(const std::filesystem::path& path, GgufOptions options = {});
  /// Checks bytes that the caller keeps alive; `source` names them in messages.
  static GgufFile parse(std::span<const std::byte> bytes, GgufOptions options = {},
                        std::string_view source = "gguf");

  /// All tensors in the order of the table.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  const GgufMetadata& metadata() const { return metadata_; }
  std::uint32_t version() const { return version_; }
  /// Keeps the mapping alive; null after parse().
  std::shared_ptr<const MappedFile> keeper() const { return keeper_; }

 private:
  GgufFile() = default;

  std::uint32_t version_ = 0;
  GgufMetadata metadata_;
  std::vector<TensorEntry> entries_;
  std::shared_ptr<const MappedFile> keeper_;
};

}  // namespace heed::io
