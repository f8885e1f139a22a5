// The index of weights that are split over several files, as Hugging Face writes it
// (model.safetensors.index.json, pytorch_model.bin.index.json): {"metadata": {…}, "weight_map":
// {tensor name: file name}}. Only the weight map is used.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::io {

/// Which file has which tensor.
struct ShardIndex {
  /// The files, sorted by name. They are in the folder of the index.
  std::vector<std::string> files;
  /// Tensor names in the order of the index, and their files as positions in `files`.
  std::vector<std::pair<std::string, std::size_t>> tensors;
};

/// Reads an index; `source` names it in messages. A file name that leaves the folder is an error.
ShardIndex parse_shard_index(std::string_view json, std::string_view source);

}  // namespace heed::io
