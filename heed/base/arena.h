// A cache of memory blocks by size class: a training step reuses the memory that the last step
// freed. Unlike an arena that is reset at the end of a step, a block returns as soon as its last
// tensor is destroyed. So memory is reused within a step, peak memory is that of the live tensors,
// and a tensor that is kept after the step stays valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed {

/// Statistics of the arena since the process started.
struct ArenaStats {
  std::uint64_t system_allocations = 0;  ///< Blocks from the system; constant in steady state.
  std::size_t bytes_held = 0;            ///< Bytes in all blocks, in use or free.
  std::size_t bytes_live = 0;            ///< Bytes in use now.
  std::size_t bytes_peak = 0;            ///< Most bytes in use at once since the last reset_peak.
};

namespace arena {

/// Alignment of blocks: a cache line, which is also the size of an AVX-512 vector.
inline constexpr std::size_t kAlignment = 64;

/// Returns an uninitialised block of at least `bytes` bytes; may be called from any thread. Throws
/// heed::Error if the system has no more memory.
void* take(std::size_t bytes);

/// Gives a block back to the arena; `bytes` is the argument of take().
void give(void* block, std::size_t bytes) noexcept;

/// Gives free blocks back to the system.
void trim();

/// Current statistics.
ArenaStats stats();

/// Starts a new measurement of bytes_peak.
void reset_peak();

}  // namespace arena

/// A typed scratch buffer that lives as long as its scope.
template <typename T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : count_(count), data_(static_cast<T*>(arena::take(bytes()))) {}
  ~Scratch() { arena::give(data_, bytes()); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return data_; }
  T& operator[](std::int64_t i) const { return data_[i]; }
  std::int64_t size() const { return count_; }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(count_) * sizeof(T); }
  std::int64_t count_;
  T* data_;
};

}  // namespace heed
