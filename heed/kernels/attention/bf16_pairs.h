// Keys and values of attention as pairs of bf16 numbers, which CPUs with AVX512-BF16 multiply twice
// as fast as floats.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// Two neighbouring bf16 numbers, the first in the low half.
struct Bf16Pair {
  std::uint32_t bits;
};

/// All heads of keys, [B, G, Tk, D / 2], and of values, [B, G, (Tk + 1) / 2, Dv]: pairs of
/// neighbouring features of a key, and of the same feature of neighbouring keys. After an odd last
/// key comes 0.
struct PairedOperands {
  const Bf16Pair* keys = nullptr;
  const Bf16Pair* values = nullptr;
};

}  // namespace heed::kernels
