// Numbers of half precision (F16) one at a time.
#pragma once

#include <bit>
#include <cstdint>

#include "heed/kernels/reference/dequantize.h"

namespace heed::kernels {

using reference::half_to_float;

/// Rounded to the nearest, to even if halfway; beyond the range to infinity.
inline std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  const auto with_sign = [&](std::uint32_t half) {
    return static_cast<std::uint16_t>(sign | half);
  };
  if (magnitude > 0x7f800000u) return with_sign(0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return with_sign(0x7c00u);  // 65520 and more
  if (magnitude < 0x38800000u) {                            // below 2^-14: units of 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return with_sign(std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f));
  }
  const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return with_sign((rounded - (112u << 23)) >> 13);
}

}  // namespace heed::kernels
