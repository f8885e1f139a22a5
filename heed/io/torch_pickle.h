// The tensors that a pickle of torch.save describes: name, type, shape, strides and the storage
// that has the elements. Nested dicts and lists are flattened, {"model": {"w": tensor}} to
// "model.w"; values that are not tensors are skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/shape.h"
#include "heed/io/tensor_type.h"

namespace heed::io {

/// A block of elements that tensors view.
struct TorchStorage {
  std::string key;          ///< Its name in the file.
  TensorType type;          ///< U8 if it is untyped.
  std::int64_t count = 0;   ///< Elements.
  std::uint64_t bytes = 0;  ///< Of all elements.
};

/// A view of a storage. All indices lie within it.
struct TorchTensor {
  std::string name;
  TensorType type;
  std::size_t storage = 0;  ///< Position in TorchPickle::storages.
  std::int64_t offset = 0;  ///< In elements.
  Shape shape;
  Strides strides;  ///< In elements; row-major where only sizes of 1 make a difference.
};

/// The content of a pickle.
struct TorchPickle {
  std::vector<TorchStorage> storages;
  std::vector<TorchTensor> tensors;
  std::size_t size = 0;  ///< Bytes of the pickle.
};

/// Reads the pickle at the start of the bytes. `base` is the position of the first byte in the
/// file. Nothing is executed; anything but tensors and plain values is refused.
TorchPickle read_torch_pickle(std::span<const std::byte> bytes, std::string_view source,
                              std::size_t base);

}  // namespace heed::io
