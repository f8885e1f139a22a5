// What the CPU can do beyond its instruction set (heed/base/isa.h).
#pragma once

namespace heed::kernels {

/// Whether the current instruction set has dot products of 8-bit integers (AVX512-VNNI, AVX-VNNI).
/// HEED_VNNI=0 turns them off, for comparison.
bool has_vnni();

/// Whether it has dot products of bf16 numbers (AVX512-BF16). HEED_BF16_DOT=0 turns them off.
bool has_bf16_dot();

/// Both answers. A product asks once, because the form of its rows and its kernel depend on them.
struct DotProducts {
  bool bytes, bf16;
};
inline DotProducts dot_products() { return {.bytes = has_vnni(), .bf16 = has_bf16_dot()}; }

/// Turns either on, where the CPU has it, or off: for tests and benchmarks.
void set_vnni(bool on);
void set_bf16_dot(bool on);

}  // namespace heed::kernels
