// The table of safetensors element types.
#include "heed/io/safetensors_format.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace heed::io::detail {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is little endian");

constexpr FormatDType kDTypes[] = {
#define HEED_X(name, type, file_name) {file_name, 8 * sizeof(type), DType::name},
    HEED_DTYPES(HEED_X)
#undef HEED_X
    // Types of the format that heed does not support.
    {"F16", 16, {}},
    {"I8", 8, {}},
    {"I16", 16, {}},
    {"U16", 16, {}},
    {"U32", 32, {}},
    {"U64", 64, {}},
    {"C64", 64, {}},
    {"F8_E4M3", 8, {}},
    {"F8_E5M2", 8, {}},
    {"F8_E8M0", 8, {}},
    {"F8_E4M3FNUZ", 8, {}},
    {"F8_E5M2FNUZ", 8, {}},
    {"F6_E2M3", 6, {}},
    {"F6_E3M2", 6, {}},
    {"F4", 4, {}},
};

}  // namespace

const FormatDType* find_format_dtype(std::string_view name) {
  const auto* it = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                [&](const FormatDType& d) { return d.name == name; });
  return it == std::end(kDTypes) ? nullptr : it;
}

std::string supported_dtypes() {
  std::string names;
  for (const FormatDType& d : kDTypes) {
    if (d.dtype) names.append(names.empty() ? "" : ", ").append(d.name);
  }
  return names;
}

std::optional<std::uint64_t> byte_count(const Shape& shape, std::uint32_t bits) {
  std::int64_t product = bits;
  bool empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    empty |= size == 0;
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(size, 1), &product)) {
      return std::nullopt;
    }
  }
  if (empty) return 0;
  if (product % 8 != 0) return std::nullopt;
  return static_cast<std::uint64_t>(product) / 8;
}

std::optional<std::size_t> find_bad_bool(std::span<const std::byte> bytes) {
  const auto it =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
  if (it == bytes.end()) return std::nullopt;
  return static_cast<std::size_t>(it - bytes.begin());
}

}  // namespace heed::io::detail
