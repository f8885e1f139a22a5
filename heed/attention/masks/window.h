// Bands along the diagonal: causal masks and sliding windows.
#pragma once

#include <cstdint>
#include <limits>

#include "heed/attention/corner.h"
#include "heed/attention/mask.h"

namespace heed {

/// A window without a limit on that side.
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

/// A query sees the key at its own position and those before: j <= i + shift of the corner. In
/// packed sequences the corner is that of each sequence.
Mask causal(Corner corner = Corner::top_left);

/// A query at position p sees keys p - left to p + right.
Mask window(std::int64_t left, std::int64_t right, Corner corner = Corner::top_left);

}  // namespace heed
