// Rows of f32 as 8-bit integers with one scale each.
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
  float* scales;  // [rows, scale_groups(columns)]
};

/// Quantises each row in groups of kScaleColumns columns: integer = x / scale, rounded to the
/// nearest, to even if halfway; scale = greatest magnitude of the group / 127. The scale of a group
/// with NaN or infinity is NaN.
void quantize_rows(const FloatRows& from, const QuantizedRows& to);

/// The same with 128 added to each integer, as bytes without sign; zeros become 128.
void quantize_rows_unsigned(const FloatRows& from, const QuantizedRows& to);

}  // namespace heed::kernels
