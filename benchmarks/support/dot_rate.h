// The reference for products of integers and of bf16: how fast the CPU multiplies them when nothing
// has to be loaded.
#pragma once

namespace heed::bench {

/// Billions of multiplications and additions per second of one thread, counted as two: with weights
/// of int8 as 8-bit products compute them, or of 4 bits. One measurement of a few milliseconds.
double int8_rate();
double int4_rate();
/// The same with bf16, in pairs or as floats.
double bf16_rate();

}  // namespace heed::bench
