// A boolean mask in bits, eight queries in a byte: a tile reads the visibility of a vector of
// queries for one key with one load. Packed once per call, however many heads share the mask.
#pragma once

#include <cstdint>

namespace heed::kernels {

/// Queries of a byte.
inline constexpr std::int64_t kMaskRows = 8;

/// The bits of some heads, [heads, groups, cols]: bit r % 8 of byte [h, r / 8, c] says whether
/// query r of head h attends to key c. Bits after the last query are 0.
struct MaskBits {
  std::uint8_t* bytes;
  std::int64_t heads, groups, cols;
};

/// The range of visible keys of a row, and their number.
struct MaskRow {
  std::int64_t first, last, count;
};

/// Elements, [heads, rows, cols] with adjacent keys; at most 8 groups rows. Those that are not 0
/// are visible: booleans of other libraries may be any byte.
struct MaskElements {
  const std::uint8_t* data;
  std::int64_t rows;
  std::int64_t head_stride, row_stride;
};

/// Packs all elements, and lists the rows of all heads.
void pack_mask(const MaskElements& from, const MaskBits& to, MaskRow* rows);

}  // namespace heed::kernels
