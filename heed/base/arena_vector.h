// A std::vector whose memory comes from the arena, for short lists that are made at every step:
// they do not call the system's allocator.
#pragma once

#include <cstddef>
#include <vector>

#include "heed/base/arena.h"

namespace heed {

/// A standard allocator that uses the arena.
template <typename T>
struct ArenaAllocator {
  using value_type = T;
  static_assert(alignof(T) <= arena::kAlignment);

  ArenaAllocator() = default;
  template <typename U>
  ArenaAllocator(const ArenaAllocator<U>&) {}  // NOLINT(google-explicit-constructor): required

  T* allocate(std::size_t n) { return static_cast<T*>(arena::take(n * sizeof(T))); }
  void deallocate(T* block, std::size_t n) noexcept { arena::give(block, n * sizeof(T)); }
  template <typename U>
  friend bool operator==(const ArenaAllocator&, const ArenaAllocator<U>&) {
    return true;
  }
};

template <typename T>
using ArenaVector = std::vector<T, ArenaAllocator<T>>;

}  // namespace heed
