// When to write past the caches. An ordinary store first reads the line it overwrites; for results
// that leave the caches before anyone reads them that is a third of a copy's traffic for nothing.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// True when a result of so many bytes at y is worth streaming: far larger than an L3's share, and
/// aligned to any vector.
inline bool worth_streaming(const void* y, std::int64_t bytes) {
  constexpr std::int64_t kBeyondCaches = std::int64_t{48} << 20;
  constexpr std::uintptr_t kLargestVector = 64;
  return bytes >= kBeyondCaches && reinterpret_cast<std::uintptr_t>(y) % kLargestVector == 0;
}

}  // namespace heed::kernels
