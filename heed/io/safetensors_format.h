// Limits and the list of element types, shared by the reader and the writer of safetensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heed/base/dtype.h"
#include "heed/base/shape.h"

namespace heed::io::detail {

inline constexpr std::size_t kLengthBytes = 8;
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the reference reader's limit
inline constexpr std::string_view kMetadataKey = "__metadata__";

/// An element type of the format.
struct FormatDType {
  std::string_view name;
  std::uint32_t bits;
  std::optional<DType> dtype;  ///< Empty if heed does not support it.
};

/// The type of that name, or null.
const FormatDType* find_format_dtype(std::string_view name);
/// The names of the types that heed supports: "F32, F64, …".
std::string supported_dtypes();

/// The number of bytes of a tensor, or nullopt if a size is negative, the product of the sizes
/// overflows 63 bits (a size of 0 counts as 1, because strides are products of the others) or the
/// bits do not fill whole bytes.
std::optional<std::uint64_t> byte_count(const Shape& shape, std::uint32_t bits);

/// The position of the first byte that is neither 0 nor 1. Reading it as a C++ bool would be
/// undefined behaviour.
std::optional<std::size_t> find_bad_bool(std::span<const std::byte> bytes);

}  // namespace heed::io::detail
