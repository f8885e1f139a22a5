// How files store the elements of tensors: the element types of safetensors, PyTorch and GGUF in
// one list. A quantised type stores its elements in blocks, e.g. Q4_0: 32 elements in 18 bytes. The
// names are those of safetensors and GGUF.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heed/base/dtype.h"
#include "heed/base/shape.h"

namespace heed::io {

// name, elements in a block, bytes of a block
#define HEED_TENSOR_TYPES(X) \
  X(F32, 1, 4)               \
  X(F64, 1, 8)               \
  X(F16, 1, 2)               \
  X(BF16, 1, 2)              \
  X(I8, 1, 1)                \
  X(I16, 1, 2)               \
  X(I32, 1, 4)               \
  X(I64, 1, 8)               \
  X(U8, 1, 1)                \
  X(U16, 1, 2)               \
  X(U32, 1, 4)               \
  X(U64, 1, 8)               \
  X(BOOL, 1, 1)              \
  X(C64, 1, 8)               \
  X(C128, 1, 16)             \
  X(F8_E4M3, 1, 1)           \
  X(F8_E5M2, 1, 1)           \
  X(F8_E8M0, 1, 1)           \
  X(F8_E4M3FNUZ, 1, 1)       \
  X(F8_E5M2FNUZ, 1, 1)       \
  X(F6_E2M3, 4, 3)           \
  X(F6_E3M2, 4, 3)           \
  X(F4, 2, 1)                \
  X(Q4_0, 32, 18)            \
  X(Q4_1, 32, 20)            \
  X(Q5_0, 32, 22)            \
  X(Q5_1, 32, 24)            \
  X(Q8_0, 32, 34)            \
  X(Q8_1, 32, 40)            \
  X(Q2_K, 256, 84)           \
  X(Q3_K, 256, 110)          \
  X(Q4_K, 256, 144)          \
  X(Q5_K, 256, 176)          \
  X(Q6_K, 256, 210)          \
  X(Q8_K, 256, 292)          \
  X(IQ1_S, 256, 50)          \
  X(IQ1_M, 256, 56)          \
  X(IQ2_XXS, 256, 66)        \
  X(IQ2_XS, 256, 74)         \
  X(IQ2_S, 256, 82)          \
  X(IQ3_XXS, 256, 98)        \
  X(IQ3_S, 256, 110)         \
  X(IQ4_NL, 32, 18)          \
  X(IQ4_XS, 256, 136)        \
  X(TQ1_0, 256, 54)          \
  X(TQ2_0, 256, 66)          \
  X(MXFP4, 32, 17)           \
  X(NVFP4, 64, 36)           \
  X(Q1_0, 128, 18)

/// An element type of a file.
enum class TensorType : std::uint8_t {
#define HEED_X(name, block, bytes) name,
  HEED_TENSOR_TYPES(HEED_X)
#undef HEED_X
};

/// What is known about an element type.
struct TensorTypeInfo {
  std::string_view name;       ///< "F32", "Q4_K"
  std::uint32_t block;         ///< Elements in a block; 1 for types that are not quantised.
  std::uint32_t block_bytes;   ///< Bytes of a block.
  std::optional<DType> dtype;  ///< The same type in heed, or empty.
};

/// The entry of a type in the list.
const TensorTypeInfo& info(TensorType type);
/// The type of that name, or empty.
std::optional<TensorType> find_tensor_type(std::string_view name);
/// The type that stores elements of a heed dtype.
TensorType tensor_type_of(DType dtype);

/// The number of bytes of a row-major tensor. Empty if a size is negative, the product overflows 63
/// bits (a size of 0 counts as 1) or the last size (1 for rank 0) is not a multiple of the block.
std::optional<std::uint64_t> byte_count(const Shape& shape, TensorType type);

}  // namespace heed::io
