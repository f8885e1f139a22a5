#include "heed/io/tensor_type.h"

#include <algorithm>
#include <iterator>

namespace heed::io {
namespace {

constexpr std::optional<DType> dtype_named(std::string_view name) {
#define HEED_X(dtype, type, file_name) \
  if (name == file_name) return DType::dtype;
  HEED_DTYPES(HEED_X)
#undef HEED_X
  return std::nullopt;
}

constexpr TensorTypeInfo kTensorTypes[] = {
#define HEED_X(name, block, bytes) {#name, block, bytes, dtype_named(#name)},
    HEED_TENSOR_TYPES(HEED_X)
#undef HEED_X
};

}  // namespace

const TensorTypeInfo& info(TensorType type) { return kTensorTypes[static_cast<std::size_t>(type)]; }

std::optional<TensorType> find_tensor_type(std::string_view name) {
  const auto* it = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                [&](const TensorTypeInfo& t) { return t.name == name; });
  if (it == std::end(kTensorTypes)) return std::nullopt;
  return static_cast<TensorType>(it - std::begin(kTensorTypes));
}

TensorType tensor_type_of(DType dtype) {
  const auto* it = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                [&](const TensorTypeInfo& t) { return t.dtype == dtype; });
  return static_cast<TensorType>(it - std::begin(kTensorTypes));
}

std::optional<std::uint64_t> byte_count(const Shape& shape, TensorType type) {
  const TensorTypeInfo& t = info(type);
  const std::int64_t row = shape.empty() ? 1 : shape.back();
  if (row < 0 || row % t.block != 0) return std::nullopt;
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty |= size == 0;
    if (__builtin_mul_overflow(elements, std::max<std::int64_t>(size, 1), &elements)) {
      return std::nullopt;
    }
  }
  // Larger than the true count for an empty tensor only; strides must not overflow there either.
  const std::int64_t blocks = elements / t.block + (elements % t.block != 0);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(blocks, std::int64_t{t.block_bytes}, &bytes)) return std::nullopt;
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

}  // namespace heed::io
