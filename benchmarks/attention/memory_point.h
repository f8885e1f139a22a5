// One measurement of attention's memory: a program of its own, since a peak of residence is never
// forgotten. heed_bench starts itself with a hidden argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heed::bench {

/// The hidden argument; behind it stand the variant (none, causal, window), the direction (forward,
/// both) and n.
inline constexpr std::string_view kMemoryPoint = "--memory-point";

struct MemoryPoint {
  std::string variant;
  std::string direction;
  std::int64_t n = 0;
};

inline constexpr std::int64_t kMemoryD = 64;

/// The bytes that a fresh process holds at its peak beyond what it held before q, k and v were
/// made: one head, two threads.
double peak_bytes(const MemoryPoint& point);

/// What the fresh process does: measures and prints the bytes; returns the exit code.
int print_memory_point(std::span<const std::string_view> words);

}  // namespace heed::bench
