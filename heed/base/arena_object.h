// A base for small objects that are made and dropped at every step: they live in the arena, and
// cost no call of the system's allocator.
#pragma once

#include <cstddef>

#include "heed/base/arena.h"

namespace heed {

/// `new` of a class derived from it takes from the arena. Deleting it through a base needs that
/// base's destructor to be virtual, as ever.
struct ArenaObject {
  static void* operator new(std::size_t bytes) { return arena::take(bytes); }
  static void operator delete(void* object, std::size_t bytes) noexcept {
    arena::give(object, bytes);
  }
};

}  // namespace heed
