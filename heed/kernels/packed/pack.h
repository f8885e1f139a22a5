// Writing and reading packed matrices.
#pragma once

#include <cstdint>

#include "heed/base/dtype.h"
#include "heed/kernels/packed/matrix.h"

namespace heed::kernels {

/// Where a matrix is packed to; the members are those of PackedMatrix.
struct PackTarget {
  PackedForm form;
  std::int64_t out, in;
  std::byte* data;
  float* scales;
  std::int32_t* sums;

  operator PackedMatrix()
      const {  // NOLINT(google-explicit-constructor): the same memory, read-only
    return {form, out, in, data, scales, sums};
  }
};

/// Packs a matrix whose rows are `stride` apart. int8: quantised as in quantize_rows().
void pack(const float* matrix, std::int64_t stride, const PackTarget& to);
/// Packs numbers that are bf16 already, row by row.
void pack_bf16(const BFloat16* matrix, const PackTarget& to);
/// Packs integers from -127 to 127 that were quantised before, row by row; scales are [out,
/// groups].
void pack_int8(const std::int8_t* matrix, const float* scales, const PackTarget& to);

/// Writes row `row` as f32: the numbers that products use.
void unpack_row(const PackedMatrix& matrix, std::int64_t row, float* to);
/// Writes the integers of row `row` of an int8 matrix.
void unpack_row(const PackedMatrix& matrix, std::int64_t row, std::int8_t* to);
/// Writes the scales of row `row` of an int8 matrix, [groups].
void unpack_scales(const PackedMatrix& matrix, std::int64_t row, float* to);

}  // namespace heed::kernels
