// One tensor of a file of weights, whatever the format of the file.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "heed/base/shape.h"
#include "heed/io/tensor_type.h"

namespace heed::io {

/// The name, type, shape and bytes of a tensor in a file.
struct TensorEntry {
  std::string name;
  TensorType type = TensorType::F32;
  Shape shape;
  /// In elements. Row-major, except for tensors that PyTorch saved as a strided view.
  Strides strides;
  /// In the mapped file, from the first element to the last. They may begin at any address.
  std::span<const std::byte> bytes;
  /// The file, as a position in TensorSource::files().
  std::size_t file = 0;

  bool row_major() const { return strides == heed::row_major(shape); }
};

}  // namespace heed::io
