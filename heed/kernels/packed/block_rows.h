// Rows of blocks (blocks.h), before they are packed: from the bytes of a GGUF file as they are, or
// rounded from f32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "heed/io/tensor_type.h"
#include "heed/kernels/packed/blocks.h"

namespace heed::kernels {

/// One row. Scales and minima are F16; nested ones are the units of 8 blocks, and the bytes are
/// the scales and minima of each block.
struct BlockRow {
  BlockRow(BlockForm form, std::int64_t in);

  std::vector<std::uint8_t> q;                         // [in], filled up to whole blocks
  std::vector<std::uint16_t> scales, minima;           // [blocks], nested [blocks / 8]
  std::vector<std::uint8_t> byte_scales, byte_minima;  // nested: [blocks]
};

/// The form of a type of GGUF files whose blocks are taken as they are: Q4_0, Q4_1, Q4_K, Q5_0,
/// Q5_1, Q5_K, Q8_0. Others have none.
std::optional<BlockForm> block_form(io::TensorType type);

/// Reads a row of whole blocks of such a type.
void read_block_row(io::TensorType type, const std::byte* from, std::int64_t in, BlockRow& to);

/// Rounds a row to 4 bits, shifted: the scale and the minimum of a block are those with the least
/// sum of squared errors among some. The scale of a block with NaN or infinity is NaN.
void round_block_row(const float* from, std::int64_t in, BlockRow& to);
/// Rounds a row to 8 bits, centred: scale = greatest magnitude of a block / 127.
void round_byte_row(const float* from, std::int64_t in, BlockRow& to);

}  // namespace heed::kernels
