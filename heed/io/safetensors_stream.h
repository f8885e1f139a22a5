// A safetensors file written tensor by tensor, when there are more than memory should hold. The
// format has its header in front, so the data wait in a nameless file beside the target until the
// header is known; the file then appears whole under its name, or not at all.
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

class SafetensorsStream {
 public:
  /// Opens a file for the data in the target's folder, or throws heed::Error.
  explicit SafetensorsStream(std::filesystem::path target);
  ~SafetensorsStream();
  SafetensorsStream(const SafetensorsStream&) = delete;
  SafetensorsStream& operator=(const SafetensorsStream&) = delete;

  /// Appends a tensor; its bytes are copied to the disk.
  void add(const SafetensorsItem& item);
  /// Writes the file under its name, durably.
  void commit(const Metadata& metadata = {});

 private:
  struct Entry {
    SafetensorsItem item;  // its bytes are not here
    std::size_t begin, size;
  };

  std::filesystem::path target_;
  int descriptor_ = -1;
  std::size_t end_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace heed::io
