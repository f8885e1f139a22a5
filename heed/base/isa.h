// The instruction set of the kernels. It is chosen once, by the CPU; HEED_ISA=sse4|avx2|avx512 (or
// neon) forces one.
#pragma once

#include <atomic>
#include <string_view>
#include <vector>

namespace heed {

/// An instruction set.
enum class Isa { sse4, avx2, avx512, neon };

/// "sse4", "avx2", "avx512", "neon".
std::string_view name_of(Isa isa);

/// The instruction sets that this build contains and this CPU can run, best first.
std::vector<Isa> available_isas();

/// The instruction set in use. The first call reads HEED_ISA and throws heed::Error if this CPU
/// cannot run the set it names.
Isa current_isa();

/// Forces an instruction set (for tests and benchmarks); throws heed::Error if this CPU cannot run
/// it.
void set_isa(Isa isa);

namespace detail {
extern std::atomic<bool> isa_chosen;
void choose_isa();

/// Makes sure that HEED_ISA has been read; kernels call it before they dispatch.
inline void ensure_isa() {
  if (!isa_chosen.load(std::memory_order_acquire)) [[unlikely]]
    choose_isa();
}
}  // namespace detail

}  // namespace heed
