// Writes a safetensors file tensor by tensor, for more data than fits in memory. The header comes
// first in the format, so the data is kept in an unnamed temporary file in the target's folder
// until the header is known. The file then appears whole under its name, or not at all.
//
//   io::SafetensorsStream file("weights.safetensors");
//   while (more()) file.add({name, DType::f32, shape, bytes});
//   file.commit();
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/io/safetensors.h"

namespace heed::io {

/// Collects tensors on the disk and writes them as one file.
class SafetensorsStream {
 public:
  /// Opens a file for the data in the target's folder, or throws heed::Error.
  explicit SafetensorsStream(std::filesystem::path target);
  ~SafetensorsStream();
  SafetensorsStream(const SafetensorsStream&) = delete;
  SafetensorsStream& operator=(const SafetensorsStream&) = delete;

  /// Appends a tensor; its bytes are copied to the disk.
  void add(const SafetensorsItem& item);
  /// Writes the file under its name and syncs it to the disk.
  void commit(const Metadata& metadata = {});

 private:
  struct Entry {
    SafetensorsItem item;  // without its bytes
    std::size_t begin, size;
  };

  std::filesystem::path target_;
  int descriptor_ = -1;
  std::size_t end_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace heed::io
