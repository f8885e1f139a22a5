// Writing and reading packed matrices.
#pragma once

#include <cstdint>
#include <span>

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
  BlockForm blocks = {};
  std::byte* block_scales = nullptr;

  operator PackedMatrix()
      const {  // NOLINT(google-explicit-constructor): the same memory, read-only
    return {form, out, in, data, scales, sums, blocks, block_scales};
  }
};

/// Where the rows [begin, end) of a matrix are packed to; begin must be the first row of a panel.
inline PackTarget rows_of(const PackTarget& to, std::int64_t begin, std::int64_t end) {
  const PackedMatrix part = rows_of(PackedMatrix(to), begin, end);
  return {.form = part.form,
          .out = part.out,
          .in = part.in,
          .data = const_cast<std::byte*>(part.data),
          .scales = const_cast<float*>(part.scales),
          .sums = const_cast<std::int32_t*>(part.sums),
          .blocks = part.blocks,
          .block_scales = const_cast<std::byte*>(part.block_scales)};
}

/// Packs a matrix whose rows are `stride` apart. int8: quantised as in quantize_rows(); int4:
/// rounded to shifted blocks of 4 bits or centred ones of 8 bits (block_rows.h).
void pack(const float* matrix, std::int64_t stride, const PackTarget& to);
/// Packs numbers that are bf16 already, row by row.
void pack_bf16(const BFloat16* matrix, const PackTarget& to);
/// Packs integers from -127 to 127 that were quantised before, row by row; scales are [out,
/// groups].
void pack_int8(const std::int8_t* matrix, const float* scales, const PackTarget& to);

/// Copies the rows with these numbers to a matrix of the same form, which must not be int4.
void copy_rows(const PackedMatrix& from, std::span<const std::int32_t> rows, const PackTarget& to);

/// Writes row `row` as f32: the numbers that products use.
void unpack_row(const PackedMatrix& matrix, std::int64_t row, float* to);
/// Writes the integers of row `row` of an int8 matrix.
void unpack_row(const PackedMatrix& matrix, std::int64_t row, std::int8_t* to);
/// Writes the scales of row `row` of an int8 matrix, [groups].
void unpack_scales(const PackedMatrix& matrix, std::int64_t row, float* to);

}  // namespace heed::kernels
