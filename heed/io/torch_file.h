// Files of torch.save, such as pytorch_model.bin: tensors by name, read in place. There are two
// forms. Since PyTorch 1.6 a file is a zip archive with a pickle that describes the tensors
// (data.pkl) and one entry per storage (data/0, …). Before, it was five pickles (magic number,
// version, machine, object, storage keys) and then the storages, each after its element count.
// Nothing in the file is executed (io/pickle.h).
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "heed/io/file.h"
#include "heed/io/tensor_entry.h"

namespace heed::io {

/// The tensors of a file. Tensors that share a storage share their bytes; tied weights are equal
/// spans.
class TorchFile {
 public:
  /// Maps a file and checks it; no tensor data is copied or read.
  static TorchFile open(const std::filesystem::path& path);
  /// Checks bytes that the caller keeps alive; `source` names them in messages.
  static TorchFile parse(std::span<const std::byte> bytes, std::string_view source = "torch");
  /// True if the bytes begin like a file of torch.save, in either form, or like another pickle.
  static bool recognises(std::span<const std::byte> bytes);

  /// All tensors in the order of the state dict.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  /// Keeps the mapping alive; null after parse().
  std::shared_ptr<const MappedFile> keeper() const { return keeper_; }

 private:
  TorchFile() = default;

  std::vector<TensorEntry> entries_;
  std::shared_ptr<const MappedFile> keeper_;
};

}  // namespace heed::io
