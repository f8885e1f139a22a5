// What rounding to int8 leaves of a matrix, as 8-bit integers too: W = scale (integer + remainder /
// 254), which has 16 bits. Products use the integers alone; where a few outputs must be more exact
// than that, they are computed again with the remainders.
#pragma once

#include <cstdint>

#include "heed/kernels/packed/matrix.h"

namespace heed::kernels {

/// Remainders of this size are one unit of the integers: half a unit, the greatest that rounding
/// leaves, is 127.
inline constexpr int kRemainderSteps = 254;

/// Writes the remainders, [out, in] row by row, of a matrix that was rounded to `packed`.
void find_remainders(const float* matrix, std::int64_t stride, const PackedMatrix& packed,
                     std::int8_t* to);

/// The product of x [in] with row `row` of an int8 matrix and its remainders, which are those of
/// the whole matrix. x is not rounded. Multiplication and addition are rounded apart, in an order
/// that is the same on every instruction set.
float refined_product(const float* x, const PackedMatrix& matrix, const std::int8_t* remainders,
                      std::int64_t row);

}  // namespace heed::kernels
