// The element types of tensors, all derived from one list.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heed {

/// A bfloat16: the upper half of a float. Storage only; arithmetic happens in float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  /// Rounds to nearest, ties to even; a NaN stays a (quiet) NaN.
  explicit BFloat16(float value) {
    const auto u = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (u & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<std::uint16_t>(is_nan ? (u >> 16) | 0x40u
                                             : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  friend bool operator==(const BFloat16&, const BFloat16&) = default;
};

// name, C++ type, safetensors name
#define HEED_DTYPES(X)              \
  X(f32, float, "F32")              \
  X(f64, double, "F64")             \
  X(bf16, ::heed::BFloat16, "BF16") \
  X(i32, std::int32_t, "I32")       \
  X(i64, std::int64_t, "I64")       \
  X(u8, std::uint8_t, "U8")         \
  X(boolean, bool, "BOOL")

/// An element type.
enum class DType : std::uint8_t {
#define HEED_X(name, type, file_name) name,
  HEED_DTYPES(HEED_X)
#undef HEED_X
};

namespace detail {
template <typename T>
struct DTypeOf;
#define HEED_X(name, type, file_name)           \
  template <>                                   \
  struct DTypeOf<type> {                        \
    static constexpr DType value = DType::name; \
  };
HEED_DTYPES(HEED_X)
#undef HEED_X
}  // namespace detail

/// The DType of a C++ type: `dtype_of<float> == DType::f32`.
template <typename T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

/// Calls f with a value-initialised element of the C++ type of dtype: `visit(t, [](auto zero)
/// {…})`.
template <typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
#define HEED_X(name, type, file_name) \
  case DType::name:                   \
    return f(type{});
    HEED_DTYPES(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
#define HEED_X(name, type, file_name) \
  case DType::name:                   \
    return sizeof(type);
    HEED_DTYPES(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

/// "f32", "bf16", …
constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
#define HEED_X(name, type, file_name) \
  case DType::name:                   \
    return #name;
    HEED_DTYPES(HEED_X)
#undef HEED_X
  }
  __builtin_unreachable();
}

/// True for f32, f64 and bf16.
constexpr bool is_floating(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::bf16;
}

}  // namespace heed
