// Decides when stores should bypass the caches. An ordinary store first reads the cache line that
// it overwrites. For results that leave the caches before they are read, this wastes a third of the
// memory traffic of a copy.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// True if a result of this size at y is worth streaming: it is far larger than the share of an L3
/// cache, and aligned to any vector.
inline bool worth_streaming(const void* y, std::int64_t bytes) {
  constexpr std::int64_t kBeyondCaches = std::int64_t{48} << 20;
  constexpr std::uintptr_t kLargestVector = 64;
  return bytes >= kBeyondCaches && reinterpret_cast<std::uintptr_t>(y) % kLargestVector == 0;
}

}  // namespace heed::kernels
