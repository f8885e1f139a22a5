// Regions in pieces that fit arrays on the stack.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention/plan.h"

namespace heed {

/// Rows in a piece; the driver never requests more at once.
inline constexpr std::int64_t kPieceRows = kernels::kMaxBlockRows;
/// Columns in a piece.
inline constexpr std::int64_t kPieceCols = kernels::kStripKeys;

/// Calls f(piece, r) with pieces of at most kPieceRows rows; r is the first row of the piece within
/// the region.
template <typename F>
void for_each_rows(const kernels::Region& region, const F& f) {
  kernels::Region piece = region;
  for (std::int64_t r = 0; r < region.rows; r += kPieceRows) {
    piece.row = region.row + r;
    piece.rows = std::min(kPieceRows, region.rows - r);
    f(piece, r);
  }
}

/// Calls f(piece, r, c) with pieces of at most kPieceRows x kPieceCols.
template <typename F>
void for_each_piece(const kernels::Region& region, const F& f) {
  for_each_rows(region, [&](kernels::Region piece, std::int64_t r) {
    for (std::int64_t c = 0; c < region.cols; c += kPieceCols) {
      piece.col = region.col + c;
      piece.cols = std::min(kPieceCols, region.cols - c);
      f(piece, r, c);
    }
  });
}

}  // namespace heed
