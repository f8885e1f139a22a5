// A matrix [out, in] that is the right factor of many products, x W^T, in the order in which these
// products read it. Its rows are grouped into panels of kPanelRows rows; within a panel, the
// numbers of all rows for one column (or two columns, of bf16; four, of int8) are adjacent, so that
// a product reads memory from front to back and computes the outputs of a panel as lanes of
// vectors.
//
// The layout is the same for all instruction sets. Each output is one chain of sums in the order of
// the columns (of bf16, the second of each pair first), so its bits do not depend on the number of
// rows of x, nor on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "heed/kernels/packed/blocks.h"

namespace heed::kernels {

/// Columns of bf16 and of int8 that are adjacent; the last ones are filled up with zeros.
inline constexpr std::int64_t kColumnPair = 2, kColumnGroup = 4;

/// Columns of int8 that share a scale, in matrices and in rows of x. One scale for a whole row lost
/// too much: docs/design/2026-11-quantisation.md.
inline constexpr std::int64_t kScaleColumns = 64;
/// Blocks of a matrix for one scale of x.
inline constexpr std::int64_t kBlocksOfScale = kScaleColumns / kBlockColumns;

/// The form of the numbers.
enum class PackedForm : std::uint8_t {
  f32,
  bf16,  ///< Rounded to bf16, as x is; products are summed in f32.
  int8,  ///< Integers from -127 to 127 with a scale for 64 columns of a row.
  int4,  ///< Blocks of 32 columns of a row in 4 bits, or in those of a GGUF file (blocks.h).
};

/// A packed matrix in memory that the caller owns.
struct PackedMatrix {
  PackedForm form;
  std::int64_t out, in;
  /// Panels of [in, 16] numbers; of bf16 [in / 2, 16, 2], of int8 [in / 4, 16, 4].
  const std::byte* data;
  const float* scales;       // int8: [panels, scale_groups(in), 16], else null
  const std::int32_t* sums;  // int8: the sums of the integers that share a scale, as scales
  BlockForm blocks = {};     // int4
  const std::byte* block_scales = nullptr;  // int4: blocks.h

  std::int64_t panels() const { return (out + kPanelRows - 1) / kPanelRows; }
};

/// out, filled up to whole panels.
inline std::int64_t padded_out(std::int64_t out) {
  return (out + kPanelRows - 1) / kPanelRows * kPanelRows;
}
/// The columns of rounded rows of x: whole pairs, groups or blocks, of which the last are zeros.
inline std::int64_t padded_in(PackedForm form, std::int64_t in) {
  const std::int64_t group = form == PackedForm::bf16   ? kColumnPair
                             : form == PackedForm::int8 ? kColumnGroup
                             : form == PackedForm::int4 ? kBlockColumns
                                                        : 1;
  return (in + group - 1) / group * group;
}
/// The number of scales of a row of int8, and of a quantised row of x.
inline std::int64_t scale_groups(std::int64_t in) {
  return (in + kScaleColumns - 1) / kScaleColumns;
}
/// Bytes of one panel.
inline std::int64_t panel_bytes(PackedForm form, std::int64_t in, BlockForm blocks = {}) {
  switch (form) {
    case PackedForm::f32:
      return kPanelRows * in * 4;
    case PackedForm::bf16:
      return kPanelRows * padded_in(form, in) * 2;
    case PackedForm::int8:
      return kPanelRows * padded_in(form, in);
    case PackedForm::int4:
      break;
  }
  return block_count(in) * block_bytes(blocks);
}
/// The rows [begin, end) of a matrix; begin must be the first row of a panel.
inline PackedMatrix rows_of(PackedMatrix matrix, std::int64_t begin, std::int64_t end) {
  const std::int64_t panel = begin / kPanelRows;
  matrix.data += panel * panel_bytes(matrix.form, matrix.in, matrix.blocks);
  if (matrix.form == PackedForm::int8) {
    matrix.scales += begin * scale_groups(matrix.in);
    matrix.sums += begin * scale_groups(matrix.in);
  }
  if (matrix.form == PackedForm::int4) {
    matrix.block_scales += panel * block_scale_bytes(matrix.blocks, matrix.in);
  }
  matrix.out = end - begin;
  return matrix;
}
/// "f32", "bf16", "int8", "int4".
constexpr std::string_view name_of(PackedForm form) {
  switch (form) {
    case PackedForm::f32:
      return "f32";
    case PackedForm::bf16:
      return "bf16";
    case PackedForm::int8:
      return "int8";
    case PackedForm::int4:
      break;
  }
  return "int4";
}

}  // namespace heed::kernels
