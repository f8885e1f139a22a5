// One measurement of the memory of attention, in a separate process, because the peak resident size
// of a process never decreases. heed_bench starts itself with a hidden argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed::bench {

/// The hidden argument; the variant (none, causal, window), the direction (forward, both) and n
/// follow it.
inline constexpr std::string_view kMemoryPoint = "--memory-point";

struct MemoryPoint {
  std::string variant;
  std::string direction;
  std::int64_t n = 0;
};

inline constexpr std::int64_t kMemoryD = 64;

/// The growth of the peak memory of a fresh process, in bytes, from before q, k and v are made: one
/// head, two threads.
double peak_bytes(const MemoryPoint& point);

/// The work of the fresh process: measures and prints the bytes; returns the exit code.
int print_memory_point(std::span<const std::string_view> words);

}  // namespace heed::bench
