// A matrix [out, in] that is the right factor of many products, x W^T, in the order in which these
// products read it. Its rows are grouped into panels of kPanelRows rows; within a panel, the
// numbers of all rows for one column (or four columns, of int8) are adjacent, so that a product
// reads memory from front to back and computes the outputs of a panel as lanes of vectors.
//
// The layout is the same for all instruction sets. Each output is one chain of sums in the order of
// the columns, so its bits do not depend on the number of rows of x, nor on threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heed::kernels {

/// The rows of a panel; the last panel is filled up with rows of zeros.
inline constexpr std::int64_t kPanelRows = 16;
/// Columns of int8 that are adjacent; the last ones are filled up with zeros.
inline constexpr std::int64_t kColumnGroup = 4;

/// Columns of int8 that share a scale, in matrices and in rows of x. One scale for a whole row lost
/// too much: docs/design/2026-11-quantisation.md.
inline constexpr std::int64_t kScaleColumns = 64;

/// The form of the numbers.
enum class PackedForm : std::uint8_t {
  f32,
  bf16,  ///< Rounded to bf16; products are computed in f32.
  int8,  ///< Integers from -127 to 127 with a scale for 64 columns of a row.
};

/// A packed matrix in memory that the caller owns.
struct PackedMatrix {
  PackedForm form;
  std::int64_t out, in;
  const std::byte* data;     // panels of [in, 16] numbers; of int8 [in / 4, 16, 4]
  const float* scales;       // int8: [panels, scale_groups(in), 16], else null
  const std::int32_t* sums;  // int8: the sums of the integers that share a scale, as scales

  std::int64_t panels() const { return (out + kPanelRows - 1) / kPanelRows; }
};

/// out or in, filled up to whole panels or groups.
inline std::int64_t padded_out(std::int64_t out) {
  return (out + kPanelRows - 1) / kPanelRows * kPanelRows;
}
inline std::int64_t padded_in(PackedForm form, std::int64_t in) {
  return form == PackedForm::int8 ? (in + kColumnGroup - 1) / kColumnGroup * kColumnGroup : in;
}
/// The number of scales of a row of int8.
inline std::int64_t scale_groups(std::int64_t in) {
  return (in + kScaleColumns - 1) / kScaleColumns;
}
/// Bytes of one number.
inline std::int64_t size_of(PackedForm form) {
  return form == PackedForm::f32 ? 4 : form == PackedForm::bf16 ? 2 : 1;
}
/// Bytes of one panel.
inline std::int64_t panel_bytes(PackedForm form, std::int64_t in) {
  return kPanelRows * padded_in(form, in) * size_of(form);
}
/// "f32", "bf16", "int8".
inline std::string_view name_of(PackedForm form) {
  return form == PackedForm::f32 ? "f32" : form == PackedForm::bf16 ? "bf16" : "int8";
}

}  // namespace heed::kernels
