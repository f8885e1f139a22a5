// The memory a training step frees is the memory the next step takes: a cache of blocks by size
// class. Unlike an arena that is reset at the end of a step, a block returns as soon as its last
// tensor dies, so activations are reused within the step, peak memory is that of the live tensors,
// and a tensor kept beyond the step stays valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heed {

/// What the arena has done since the process started.
struct ArenaStats {
  std::uint64_t system_allocations = 0;  ///< Blocks asked of the system; constant in steady state.
  std::size_t bytes_held = 0;            ///< Bytes in blocks, in use or waiting.
  std::size_t bytes_live = 0;            ///< Bytes in use now.
  std::size_t bytes_peak = 0;            ///< Most bytes in use at once since the last reset_peak.
};

namespace arena {

/// Blocks start on a cache line, which is also a whole AVX-512 vector.
inline constexpr std::size_t kAlignment = 64;

/// A block of at least `bytes` bytes, uninitialised; any thread. Throws heed::Error when the system
/// has no more.
void* take(std::size_t bytes);

/// Returns a block; `bytes` is what was asked of take.
void give(void* block, std::size_t bytes) noexcept;

/// Gives waiting blocks back to the system.
void trim();

ArenaStats stats();

/// Starts a new measurement of bytes_peak.
void reset_peak();

}  // namespace arena

/// A typed scratch buffer for the life of a scope.
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
