// Rows of f32 as 8-bit integers with a scale for some columns each.
#pragma once

#include <cstdint>

#include "heed/kernels/packed/matrix.h"

namespace heed::kernels {

struct FloatRows {
  std::int64_t rows, columns;
  const float* x;
  std::int64_t stride;
};

/// Where integers and scales are written. Columns of the target after those of the source are
/// filled with zeros up to `stride`.
struct QuantizedRows {
  std::int8_t* integers;
  std::int64_t stride;
  float* scales;                    // [rows, scale_groups(columns)]
  std::int32_t* offsets = nullptr;  // of integers without sign, as scales; or null
  float* sums = nullptr;            // the sums of blocks, [rows, block_count(columns)]; or null
  bool has_common_offset = false;   // integers are bytes without sign, with kCommonOffset
  /// If not 0, scales and offsets are [groups, across] and sums [blocks, across]: the numbers of
  /// adjacent rows are adjacent. Kernels then need one address for them, not one for each row of a
  /// tile (int8 with 64 rows on Zen 5: 0.75 -> 0.78 of the rate in registers).
  std::int64_t across = 0;

  /// The place of number i of a row that has n of them.
  std::int64_t place(std::int64_t row, std::int64_t i, std::int64_t n) const {
    return across == 0 ? row * n + i : i * across + row;
  }
};

/// The offset of all groups of bytes without sign. A product can add it to its sums without asking
/// which row they are of.
inline constexpr std::int32_t kCommonOffset = -128;

/// Quantises each row in groups of kScaleColumns columns; numbers are rounded to the nearest
/// integer, to even if halfway. The scale of a group with NaN or infinity is NaN.
///
/// Without offsets, x = scale integer: integers are from -127 to 127, and scale = greatest
/// magnitude of the group / 127. With offsets, x = scale (integer + offset): integers are from 0 to
/// 127, offsets from -127 to 0, and scale = (greatest - least) / 126, where 0 counts as a number of
/// the group. So 0 is exact, and the integers of two roundings never add up to more than 127. With
/// a common offset, x = scale (byte + kCommonOffset) are the same numbers.
void quantize_rows(const FloatRows& from, const QuantizedRows& to);

}  // namespace heed::kernels
