// The plain version of kernels/dequantize.h, one element at a time. Each function converts one
// block.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "heed/base/dtype.h"

namespace heed::kernels::reference {

/// The value of an IEEE half-precision number (F16); exact.
inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1fu;
  const std::uint32_t fraction = half & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

/// A number stored little endian at any address.
template <typename T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

inline float load_half(const std::byte* p) { return half_to_float(load<std::uint16_t>(p)); }

/// The 4 bits of element i of 32: the low halves of 16 bytes, then their high halves.
inline int nibble(const std::byte* q, int i) {
  const auto byte = std::to_integer<int>(q[i % 16]);
  return i < 16 ? byte & 15 : byte >> 4;
}

/// Bit i of 32.
inline int bit(const std::byte* bits, int i) {
  return static_cast<int>(load<std::uint32_t>(bits) >> i & 1);
}

inline void dequantize_f16(const std::byte* b, float* to) { *to = load_half(b); }

inline void dequantize_bf16(const std::byte* b, float* to) {
  *to = std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(b)} << 16);
}

/// d, q[16]
inline void dequantize_q4_0(const std::byte* b, float* to) {
  const float d = load_half(b);
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(nibble(b + 2, i) - 8);
}

/// d, m, q[16]
inline void dequantize_q4_1(const std::byte* b, float* to) {
  const float d = load_half(b), m = load_half(b + 2);
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(nibble(b + 4, i)) + m;
}

/// d, fifth bits[4], q[16]
inline void dequantize_q5_0(const std::byte* b, float* to) {
  const float d = load_half(b);
  for (int i = 0; i < 32; ++i) {
    to[i] = d * static_cast<float>((nibble(b + 6, i) | bit(b + 2, i) << 4) - 16);
  }
}

/// d, m, fifth bits[4], q[16]
inline void dequantize_q5_1(const std::byte* b, float* to) {
  const float d = load_half(b), m = load_half(b + 2);
  for (int i = 0; i < 32; ++i) {
    to[i] = d * static_cast<float>(nibble(b + 8, i) | bit(b + 4, i) << 4) + m;
  }
}

/// d, q[32]
inline void dequantize_q8_0(const std::byte* b, float* to) {
  const float d = load_half(b);
  for (int i = 0; i < 32; ++i) to[i] = d * static_cast<float>(load<std::int8_t>(b + 2 + i));
}

/// The scale and the minimum of group j of 8, 6 bits each. Twelve bytes hold them: the low 6 bits
/// of bytes 0 to 3 and 4 to 7 are scales and minima of groups 0 to 3; groups 4 to 7 have their low
/// 4 bits in bytes 8 to 11 and their high 2 bits in the upper bits of bytes 0 to 7.
inline std::pair<int, int> scale_and_minimum(const std::byte* s, int j) {
  const auto at = [&](int i) { return std::to_integer<int>(s[i]); };
  if (j < 4) return {at(j) & 63, at(j + 4) & 63};
  return {(at(j + 4) & 15) | (at(j - 4) >> 6) << 4, at(j + 4) >> 4 | (at(j) >> 6) << 4};
}

/// d, dmin, scales and minima[12], q[128]
inline void dequantize_q4_k(const std::byte* b, float* to) {
  const float d = load_half(b), dmin = load_half(b + 2);
  for (int j = 0; j < 8; ++j) {
    const auto [scale, minimum] = scale_and_minimum(b + 4, j);
    const float ds = d * static_cast<float>(scale), dm = dmin * static_cast<float>(minimum);
    for (int i = 0; i < 32; ++i) {
      const auto byte = std::to_integer<int>(b[16 + j / 2 * 32 + i]);
      to[j * 32 + i] = ds * static_cast<float>(j % 2 == 0 ? byte & 15 : byte >> 4) - dm;
    }
  }
}

/// d, dmin, scales and minima[12], fifth bits[32] (bit j of byte i: element i of group j), q[128]
inline void dequantize_q5_k(const std::byte* b, float* to) {
  const float d = load_half(b), dmin = load_half(b + 2);
  for (int j = 0; j < 8; ++j) {
    const auto [scale, minimum] = scale_and_minimum(b + 4, j);
    const float ds = d * static_cast<float>(scale), dm = dmin * static_cast<float>(minimum);
    for (int i = 0; i < 32; ++i) {
      const auto byte = std::to_integer<int>(b[48 + j / 2 * 32 + i]);
      const int fifth = std::to_integer<int>(b[16 + i]) >> j & 1;
      const int q = (j % 2 == 0 ? byte & 15 : byte >> 4) | fifth << 4;
      to[j * 32 + i] = ds * static_cast<float>(q) - dm;
    }
  }
}

/// low bits[128], high bits[64], scales[16] (signed), d. A half of the block has 64 bytes of low
/// and 32 bytes of high bits; its four groups of 32 take 4 and 2 bits of them.
inline void dequantize_q6_k(const std::byte* b, float* to) {
  const float d = load_half(b + 208);
  for (int j = 0; j < 8; ++j) {
    const int half = j / 4, part = j % 4;
    for (int i = 0; i < 32; ++i) {
      const auto byte = std::to_integer<int>(b[half * 64 + part % 2 * 32 + i]);
      const int high = std::to_integer<int>(b[128 + half * 32 + i]) >> (2 * part) & 3;
      const int q = ((part < 2 ? byte & 15 : byte >> 4) | high << 4) - 32;
      const auto scale = static_cast<float>(load<std::int8_t>(b + 192 + j * 2 + i / 16));
      to[j * 32 + i] = d * scale * static_cast<float>(q);
    }
  }
}

}  // namespace heed::kernels::reference
