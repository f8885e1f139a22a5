// What the reader and the writer of safetensors share: limits and the list of element types.
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
  std::optional<DType> dtype;  ///< Empty: not one of heed's.
};

/// The type of that name, or null.
const FormatDType* find_format_dtype(std::string_view name);
/// The format's name for one of heed's types.
std::string_view format_name(DType dtype);
/// "F32, F64, …": the types that heed has.
std::string supported_dtypes();

/// Bytes of a tensor, or nothing if a size is negative, a product overflows 63 bits (a size 0
/// counted as 1, since strides are made of the others) or the bits do not fill whole bytes.
std::optional<std::uint64_t> byte_count(const Shape& shape, std::uint32_t bits);

/// The position of the first byte that is neither 0 nor 1, which would be undefined as a C++ bool.
std::optional<std::size_t> find_bad_bool(std::span<const std::byte> bytes);

}  // namespace heed::io::detail
