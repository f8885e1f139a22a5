// The tensors of a model's weights, whatever files they are in: safetensors, torch.save
// (pytorch_model.bin), GGUF, or several files of the first two with an index. The files are mapped
// and read in place. heed/tensor/read.h turns an entry into a Tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/gguf.h"
#include "heed/io/safetensors.h"
#include "heed/io/tensor_entry.h"
#include "heed/io/torch_file.h"

namespace heed::io {

/// Relaxations of the strict checks.
struct TensorSourceOptions {
  bool allow_trailing_bytes = false;  ///< Accept bytes after the last tensor of a file.
};

/// Named tensors in mapped files.
class TensorSource {
 public:
  /// Opens a file of any of the formats (recognised by its first bytes), an index of shards
  /// (*.index.json), or a folder. In a folder it takes the first of model.safetensors, its index,
  /// pytorch_model.bin, its index, and the only file *.gguf, *.safetensors or *.bin.
  static TensorSource open(const std::filesystem::path& path, TensorSourceOptions options = {});

  explicit TensorSource(const SafetensorsFile& file, std::string_view source = "safetensors");
  explicit TensorSource(const GgufFile& file, std::string_view source = "gguf");
  explicit TensorSource(const TorchFile& file, std::string_view source = "torch");

  /// Adds the tensors of another source; their names get a prefix.
  void join(TensorSource other, std::string_view prefix);

  /// All tensors; of several files, file by file.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  bool contains(std::string_view name) const { return lookup(name) != nullptr; }
  /// The tensor of that name, or null.
  const TensorEntry* lookup(std::string_view name) const;
  /// The tensor of that name. Throws heed::Error if it does not exist; the message suggests the
  /// nearest name.
  const TensorEntry& find(std::string_view name) const;
  /// An earlier tensor with the same bytes, type, shape and strides, or null: tied weights of
  /// PyTorch.
  const TensorEntry* tied_to(const TensorEntry& entry) const;

  /// The path that was opened, for messages.
  const std::string& name() const { return name_; }
  /// "safetensors", "PyTorch" or "GGUF".
  std::string_view format() const { return format_; }
  /// The mapped files. Hold one to use the bytes of its entries longer than this object lives.
  const std::vector<std::shared_ptr<const MappedFile>>& files() const { return files_; }
  /// The texts in a safetensors file; of several files, those of the first one that has any.
  const Metadata& texts() const { return texts_; }
  /// The metadata of a GGUF file, or null.
  const GgufMetadata* gguf() const { return gguf_ ? &*gguf_ : nullptr; }

 private:
  TensorSource() = default;
  static TensorSource open_file(const std::filesystem::path& path, TensorSourceOptions options);
  static TensorSource open_shards(const std::filesystem::path& index, TensorSourceOptions options);
  void add(TensorSource part);
  void sort_names();

  std::string name_;
  std::string_view format_;
  std::vector<TensorEntry> entries_;
  std::vector<std::uint32_t> by_name_;  // positions in entries_, sorted by name
  std::vector<std::int64_t> tied_;      // per entry: position of an equal one before it, or -1
  std::vector<std::shared_ptr<const MappedFile>> files_;
  Metadata texts_;
  std::optional<GgufMetadata> gguf_;
};

}  // namespace heed::io
