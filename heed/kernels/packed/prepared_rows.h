// The rows of x of a product in the form in which the kernels of a matrix read them.
#pragma once

#include <cstdint>

#include "heed/base/arena.h"
#include "heed/base/dtype.h"
#include "heed/kernels/packed/cpu.h"
#include "heed/kernels/packed/matrix.h"
#include "heed/kernels/packed/quantize_rows.h"

namespace heed::kernels {

/// What kernels read: numbers for f32 and bf16, integers for int8 and int4. Rows of floats and
/// halves are `stride` apart. With bf16, floats have been rounded to bf16, and columns are filled
/// up to pairs with zeros. With int8, integers have a common offset for VNNI, and one for each
/// group for other products; scales, offsets and sums of adjacent rows are adjacent.
struct RowsOfX {
  const float* floats = nullptr;     // f32, and bf16 without dot products
  const BFloat16* halves = nullptr;  // bf16 with dot products
  std::int64_t stride = 0;
  QuantizedRows integers = {};
};

/// Rounds rows for products with a matrix on a CPU with certain dot products, and holds them. Rows
/// for f32 are read where they are.
class PreparedRows {
 public:
  PreparedRows(const PackedMatrix& weight, const FloatRows& x, DotProducts dots);
  /// The rows from `row` on.
  RowsOfX from(std::int64_t row) const;

 private:
  Scratch<BFloat16> halves_;
  Scratch<float> floats_;
  Scratch<std::int8_t> integers_;
  Scratch<float> scales_, sums_;
  Scratch<std::int32_t> offsets_;
  RowsOfX rows_;
};

}  // namespace heed::kernels
