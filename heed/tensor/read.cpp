#include "heed/tensor/read.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/safetensors_format.h"
#include "heed/io/value.h"
#include "heed/kernels/dequantize.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using io::TensorEntry;

// Copies the elements of an entry in row-major order.
void gather(const TensorEntry& entry, std::byte* to) {
  if (entry.row_major()) {
    std::memcpy(to, entry.bytes.data(), entry.bytes.size());
    return;
  }
  const std::size_t size = io::info(entry.type).block_bytes;
  const int rank = entry.shape.rank();
  Dims index = Dims::filled(rank, 0);
  std::int64_t at = 0;  // element in the file
  for (std::int64_t n = numel(entry.shape); n > 0; --n, to += size) {
    std::memcpy(to, entry.bytes.data() + static_cast<std::size_t>(at) * size, size);
    for (int axis = rank - 1; axis >= 0; --axis) {
      at += entry.strides[axis];
      if (++index[axis] < entry.shape[axis]) break;
      at -= entry.strides[axis] * entry.shape[axis];
      index[axis] = 0;
    }
  }
}

bool aligned(const void* data, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(data) % size == 0;
}

// The elements in the dtype of the file, row-major: in place if possible, else a copy.
Tensor as_stored(const io::TensorSource& source, const TensorEntry& entry, DType dtype) {
  if (entry.row_major() && !entry.bytes.empty() && aligned(entry.bytes.data(), size_of(dtype))) {
    std::shared_ptr<const void> keeper = source.files()[entry.file];
    // Bytes that the caller of parse() keeps alive have no file; borrow() needs some pointer.
    if (!keeper) keeper = std::shared_ptr<const void>(std::shared_ptr<void>(), entry.bytes.data());
    return borrow(entry.bytes.data(), dtype, entry.shape, std::move(keeper));
  }
  Tensor copy = empty(entry.shape, dtype);
  if (copy.numel() > 0) gather(entry, copy.storage()->data());
  return copy;
}

}  // namespace

Tensor read_tensor(const io::TensorSource& source, std::string_view name, ReadOptions options) {
  return read_tensor(source, source.find(name), options);
}

Tensor read_tensor(const io::TensorSource& source, const TensorEntry& entry, ReadOptions options) {
  const std::optional<DType> dtype = io::info(entry.type).dtype;
  if (dtype == DType::boolean) {
    const auto bad = io::detail::find_bad_bool(entry.bytes);
    HEED_CHECK(!bad, "[tensors] {}: tensor {} is BOOL and byte {} of its data is neither 0 nor 1",
               source.name(), io::in_quotes(entry.name), *bad);
  }
  if (dtype == DType::f64) return cast_data(as_stored(source, entry, *dtype), DType::f32);
  const bool widen = dtype == DType::bf16 && !options.keep_bf16;
  if (dtype && !widen) return as_stored(source, entry, *dtype);
  HEED_CHECK(
      kernels::can_dequantize(entry.type),
      "[tensors] {}: tensor {} is {}, which heed does not read: it reads F32, F64, I32, I64, "
      "U8, BOOL, {}",
      source.name(), io::in_quotes(entry.name), io::info(entry.type).name,
      kernels::dequantized_types());
  Tensor floats = empty(entry.shape);
  if (entry.row_major()) {
    kernels::dequantize(entry.type, entry.bytes, floats.mutable_values<float>());
  } else {
    std::vector<std::byte> packed(static_cast<std::size_t>(floats.numel()) *
                                  io::info(entry.type).block_bytes);
    gather(entry, packed.data());
    kernels::dequantize(entry.type, packed, floats.mutable_values<float>());
  }
  return floats;
}

}  // namespace heed
