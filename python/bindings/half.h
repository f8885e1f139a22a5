// 16-bit floats (IEEE binary16) at the interface: heed computes in f32 and converts the result
// back.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed::python {

using Half = _Float16;
static_assert(sizeof(Half) == 2);

/// f32 to the nearest 16-bit floats, as bits in a tensor of two-byte elements.
Tensor half_bits_of(const Tensor& x);

}  // namespace heed::python
