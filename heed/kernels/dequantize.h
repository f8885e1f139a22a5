// Weights of files as floats: F16, BF16 and the block-quantised types of GGUF. The bytes may begin
// at any address, because files need not align them.
//
// A block of Q4_0, Q4_1, Q5_0, Q5_1 or Q8_0 has 32 elements: a scale d (F16), for the `_1` types a
// minimum m (F16), for Q5 the fifth bits, then the numbers q; the element is d q or d q + m. A
// block of Q4_K, Q5_K or Q6_K has 256 elements in groups of 32 (16 for Q6_K), each with a small
// integer scale of its own. reference/dequantize.h has the formulas. All give the same bits as
// gguf.quants.dequantize of the Python package gguf.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "heed/io/tensor_type.h"

namespace heed::kernels {

/// True for the types that dequantize() reads.
bool can_dequantize(io::TensorType type);
/// The names of these types, for messages: "F16, BF16, …".
std::string dequantized_types();

/// Converts whole blocks. `from` has exactly the bytes of to.size() elements.
void dequantize(io::TensorType type, std::span<const std::byte> from, std::span<float> to);

}  // namespace heed::kernels
