// What the CPU can do beyond its instruction set (heed/base/isa.h).
#pragma once

namespace heed::kernels {

/// Whether the current instruction set has dot products of 8-bit integers (AVX512-VNNI, AVX-VNNI).
/// HEED_VNNI=0 turns them off, for comparison.
bool has_vnni();

/// Turns them on, where the CPU has them, or off: for tests and benchmarks.
void set_vnni(bool on);

}  // namespace heed::kernels
