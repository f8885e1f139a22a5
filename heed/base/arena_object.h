// A base class for small objects that are made and destroyed at every step: they live in the arena,
// so making one does not call the system's allocator.
#pragma once

#include <cstddef>

#include "heed/base/arena.h"

namespace heed {

/// `new` of a derived class allocates from the arena. Deleting through a base pointer requires a
/// virtual destructor, as usual.
struct ArenaObject {
  static void* operator new(std::size_t bytes) { return arena::take(bytes); }
  static void operator delete(void* object, std::size_t bytes) noexcept {
    arena::give(object, bytes);
  }
};

}  // namespace heed
