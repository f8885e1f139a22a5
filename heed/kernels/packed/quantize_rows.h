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

/// How integers are stored, for the instructions that multiply them.
enum class IntegerForm : std::uint8_t {
  bytes,           ///< One byte each.
  unsigned_bytes,  ///< With 128 added, without sign; zeros become 128.
  words,           ///< Two bytes each; of every four columns, in the order 0, 2, 1, 3.
};
inline std::int64_t size_of(IntegerForm form) { return form == IntegerForm::words ? 2 : 1; }

/// Where integers and scales are written. Columns of the target after those of the source are
/// filled with zeros up to `stride`.
struct QuantizedRows {
  std::int8_t* integers;  // of words, two of these each
  std::int64_t stride;    // in integers; of words, a multiple of 4
  float* scales;          // [rows, scale_groups(columns)]
  IntegerForm form = IntegerForm::bytes;
  float* sums = nullptr;  // of bytes: the sums of blocks, [rows, block_count(columns)]; or null
};

/// Quantises each row in groups of kScaleColumns columns: integer = x / scale, rounded to the
/// nearest, to even if halfway; scale = greatest magnitude of the group / 127. The scale of a group
/// with NaN or infinity is NaN.
void quantize_rows(const FloatRows& from, const QuantizedRows& to);

}  // namespace heed::kernels
