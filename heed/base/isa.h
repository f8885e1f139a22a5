// Which instruction set the kernels run on. Chosen once from the CPU; HEED_ISA=sse4|avx2|avx512 (or
// neon) forces one.
#pragma once

#include <string_view>
#include <vector>

namespace heed {

enum class Isa { sse4, avx2, avx512, neon };

/// "sse4", "avx2", "avx512", "neon".
std::string_view name_of(Isa isa);

/// The sets that this build holds and this CPU can run, best first.
std::vector<Isa> available_isas();

/// The set in force. The first call reads HEED_ISA and throws heed::Error if it names nothing this
/// CPU can run.
Isa current_isa();

/// Forces a set (tests and benchmarks); throws heed::Error if this CPU cannot run it.
void set_isa(Isa isa);

}  // namespace heed
