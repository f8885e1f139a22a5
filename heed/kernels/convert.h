// Conversion between bfloat16 (for storage) and float (for arithmetic).
#pragma once

#include <span>

#include "heed/base/dtype.h"

namespace heed::kernels {

/// Widens each element; exact. Both spans have the same length and do not overlap.
void convert(std::span<const BFloat16> from, std::span<float> to);

/// Rounds each element to nearest, ties to even, as BFloat16(float) does, bit for bit.
void convert(std::span<const float> from, std::span<BFloat16> to);

}  // namespace heed::kernels
