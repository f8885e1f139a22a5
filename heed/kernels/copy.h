// Copies between layouts and element types: plain loops, limited by memory bandwidth.
#pragma once

#include <cstdint>

#include "heed/base/dtype.h"
#include "heed/kernels/nest.h"

namespace heed::kernels {

/// Copies elements of 1, 2, 4 or 8 bytes from one layout to another. Operands: from, to.
void copy(const Nest<2>& nest, std::size_t element_bytes, const void* from, void* to);

/// Copies with conversion; to bool: x != 0; to bf16: rounded to nearest even. Operands: from, to.
void cast(const Nest<2>& nest, DType from_type, const void* from, DType to_type, void* to);

/// Sets every element to a value. Operand: to.
template <typename T>
void fill(const Nest<1>& nest, T value, T* to);

}  // namespace heed::kernels
