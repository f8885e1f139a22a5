// Writing and reading packed matrices of blocks (blocks.h).
#pragma once

#include <cstdint>

#include "heed/base/threads.h"
#include "heed/kernels/packed/block_rows.h"
#include "heed/kernels/packed/pack.h"

namespace heed::kernels {

/// Packs a matrix of the form int4. read(row, to) fills in a row, on any thread.
void pack_blocks(FunctionRef<void(std::int64_t row, BlockRow& to)> read, const PackTarget& to);

/// Reads a row.
void unpack_blocks(const PackedMatrix& matrix, std::int64_t row, BlockRow& to);

/// A row as f32: q from 0 to 2^bits - 1, and for each block the scale and the minimum, so that a
/// number is scale q + minimum.
struct BlockNumbers {
  std::vector<std::uint8_t> q;
  std::vector<float> scales, minima;
};
BlockNumbers numbers_of(const PackedMatrix& matrix, std::int64_t row);

/// Writes row `row` as f32. The numbers of a matrix from a GGUF file have the bits that
/// dequantize() gives.
void unpack_block_row(const PackedMatrix& matrix, std::int64_t row, float* to);

}  // namespace heed::kernels
