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
};

/// Quantises each row in groups of kScaleColumns columns; numbers are rounded to the nearest
/// integer, to even if halfway. The scale of a group with NaN or infinity is NaN.
///
/// Without offsets, x = scale integer: integers are from -127 to 127, and scale = greatest
/// magnitude of the group / 127. With offsets, x = scale (integer + offset): integers are from 0 to
/// 127, offsets from -127 to 0, and scale = (greatest - least) / 126, where 0 counts as a number of
/// the group. So 0 is exact, and the integers of two roundings never add up to more than 127.
void quantize_rows(const FloatRows& from, const QuantizedRows& to);

}  // namespace heed::kernels
