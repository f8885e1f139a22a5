// What heed_bench does with a model in a process of its own, started with hidden arguments: its
// peak memory, or many steps for a profiler to look at (tools/profile_by_kind.py).
#pragma once

#include <span>
#include <string_view>

namespace heed::bench {

/// The hidden argument; behind it stands "memory" or "steps", the model's name and, for steps, how
/// many.
inline constexpr std::string_view kModelPoint = "--model-point";

/// The bytes that a fresh process holds at its peak beyond what it held before the model was made:
/// two steps of every batch, two threads.
double model_peak_bytes(std::string_view model);

/// What the fresh process does; returns the exit code.
int print_model_point(std::span<const std::string_view> words);

}  // namespace heed::bench
