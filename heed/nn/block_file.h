// How a weight of the form int4 is stored in a file: as some tensors, whose rows are the rows of
// the weight. "x.weight" has its integers, U8 with two columns in a byte (the even one in the low
// half), or I8 of blocks of 8 bits; names of the others begin with "x.weight":
//
//   _fifth                the fifth bits of blocks of 5 bits, U8, eight columns in a byte
//   _scale, _min          scales and minima, F16; nested: the units of 8 blocks
//   _scale_byte, _min_byte  nested: scales and minima of blocks, U8
//
// Columns are filled up to whole blocks of 32.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "heed/io/tensor_type.h"
#include "heed/kernels/packed/block_rows.h"
#include "heed/nn/packed_weight.h"

namespace heed {

/// One of the tensors of a weight.
struct BlockPart {
  std::string_view suffix;
  io::TensorType type;
  std::int64_t columns;
  /// Writes a row of the tensor, or reads it.
  void (*store)(const kernels::BlockRow& from, std::byte* to);
  void (*restore)(const std::byte* from, kernels::BlockRow& to);

  std::int64_t row_bytes() const { return columns * io::info(type).block_bytes; }
};

/// The tensors of a weight with `in` columns, the integers first.
std::vector<BlockPart> block_parts(BlockForm form, std::int64_t in);

/// The form of a weight whose integers have that type and whose other tensors exist or not; none if
/// there is no such form.
std::optional<BlockForm> stored_blocks(io::TensorType integers,
                                       FunctionRef<bool(std::string_view suffix)> exists);

}  // namespace heed
