// Work of heed_bench on a model in a separate process, started with hidden arguments: measuring its
// peak memory, or running many steps for a profiler (tools/profile_by_kind.py).
#pragma once

#include <span>
#include <string_view>

namespace heed::bench {

/// The hidden argument; "memory" or "steps", the name of the model and, for steps, their number
/// follow it.
inline constexpr std::string_view kModelPoint = "--model-point";

/// The growth of the peak memory of a fresh process, in bytes, from before the model is made: two
/// steps of every batch, two threads.
double model_peak_bytes(std::string_view model);

/// The work of the fresh process; returns the exit code.
int print_model_point(std::span<const std::string_view> words);

}  // namespace heed::bench
