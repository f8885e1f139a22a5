// Loops over functions that a user of heed writes, compiled in the user's program for each useful
// instruction set: heed itself is compiled for the baseline, and Highway cannot compile a lambda
// for another.
#pragma once

#include <limits>
#include <type_traits>

#include "heed/base/error.h"
#include "heed/base/isa.h"
#include "heed/kernels/attention/program.h"

namespace heed::kernels {

#ifdef __x86_64__
template <typename Loop>
[[gnu::target("avx2,fma"), gnu::flatten]] void run_inline_avx2(const Loop& loop) {
  loop();
}
#endif

/// Calls loop(), compiled for AVX2 if the active instruction set has it. Everything that loop calls
/// is inlined into it.
template <typename Loop>
[[gnu::flatten]] void run_inline(const Loop& loop) {
#ifdef __x86_64__
  if (current_isa() != Isa::sse4) return run_inline_avx2(loop);
#endif
  loop();
}

/// A function to call in such a loop: a copy if copying is free, so that its captures can stay in
/// registers while the loop writes to memory.
template <typename F>
using Held = std::conditional_t<std::is_trivially_copyable_v<F>, const F, const F&>;

/// Such functions get positions as int, which vectors convert to float quickly. Throws if the sizes
/// do not fit into int.
inline void check_int_sizes(const char* stage, const AttentionShape& shape) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  HEED_CHECK(shape.Tq <= kMost && shape.Tk <= kMost,
             "[attention] {} counts positions in int: Tq = {} and Tk = {} must be at most {}",
             stage, shape.Tq, shape.Tk, kMost);
}

}  // namespace heed::kernels
