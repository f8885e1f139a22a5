#include "heed/base/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>

#include "heed/base/error.h"
#include "heed/base/fork_mutex.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define HEED_POISON(address, bytes) ASAN_POISON_MEMORY_REGION(address, bytes)
#define HEED_UNPOISON(address, bytes) ASAN_UNPOISON_MEMORY_REGION(address, bytes)
#else
#define HEED_POISON(address, bytes) ((void)0)
#define HEED_UNPOISON(address, bytes) ((void)0)
#endif

namespace heed::arena {
namespace {

// Four size classes per doubling: at most a quarter of a block is unused, an eighth on average.
constexpr int kStepsPerDoubling = 4;
constexpr std::size_t kSmallest = 64;
constexpr int kClasses = 48 * kStepsPerDoubling;
// Blocks of at least this size use huge pages: a page fault per 4 KiB costs more than the kernel
// that fills the page.
constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct SizeClass {
  int index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  bytes = std::max(bytes, kSmallest);
  const int octave = std::bit_width(bytes - 1) - 1;  // bytes is in (2^octave, 2^(octave+1)]
  const std::size_t step = std::max((std::size_t{1} << octave) / kStepsPerDoubling, std::size_t{1});
  const std::size_t steps = (bytes - (std::size_t{1} << octave) + step - 1) / step;  // 1..4
  const int base = octave - (std::bit_width(kSmallest - 1) - 1);
  return {base * kStepsPerDoubling + static_cast<int>(steps) - 1,
          (std::size_t{1} << octave) + steps * step};
}

struct FreeBlock {
  FreeBlock* next;
};

struct Pool {
  ForkMutex mutex;
  std::array<FreeBlock*, kClasses> free{};
  ArenaStats stats;
};

// Never destroyed: tensors in static variables may be destroyed later.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

// Made when heed is loaded: a fork while another thread makes it would leave the child waiting for
// that thread.
[[maybe_unused]] const Pool& made_at_load = pool();

void* system_block(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const block = std::aligned_alloc(alignment, rounded);
  HEED_CHECK(block != nullptr, "[memory] the system cannot provide {} bytes: use a smaller batch",
             bytes);
  if (alignment == kHugePage)
    madvise(block, rounded, MADV_HUGEPAGE);  // a hint; failure is harmless
  return block;
}

}  // namespace

void* take(std::size_t bytes) {
  HEED_CHECK(bytes < (std::size_t{1} << 46), "[memory] {} bytes requested: check the shape", bytes);
  const SizeClass cls = size_class(bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  FreeBlock* block = p.free[static_cast<std::size_t>(cls.index)];
  if (block != nullptr) {
    HEED_UNPOISON(block, cls.bytes);
    p.free[static_cast<std::size_t>(cls.index)] = block->next;
  } else {
    block = static_cast<FreeBlock*>(system_block(cls.bytes));
    ++p.stats.system_allocations;
    p.stats.bytes_held += cls.bytes;
  }
  p.stats.bytes_live += cls.bytes;
  p.stats.bytes_peak = std::max(p.stats.bytes_peak, p.stats.bytes_live);
  HEED_POISON(block, cls.bytes);
  HEED_UNPOISON(block, bytes);
  return block;
}

void give(void* memory, std::size_t bytes) noexcept {
  const SizeClass cls = size_class(bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  auto* const block = static_cast<FreeBlock*>(memory);
  HEED_UNPOISON(block, sizeof(FreeBlock));
  block->next = p.free[static_cast<std::size_t>(cls.index)];
  p.free[static_cast<std::size_t>(cls.index)] = block;
  p.stats.bytes_live -= cls.bytes;
  // The link stays readable: the leak checker follows it to the next blocks.
  HEED_POISON(block + 1, cls.bytes - sizeof(FreeBlock));
}

void trim() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  for (FreeBlock*& head : p.free) {
    while (head != nullptr) {
      std::free(std::exchange(head, head->next));
    }
  }
  p.stats.bytes_held = p.stats.bytes_live;
}

ArenaStats stats() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  return p.stats;
}

void reset_peak() {
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.stats.bytes_peak = p.stats.bytes_live;
}

}  // namespace heed::arena
