// Vectors by clipped distance, which Shaw et al. (2018) add to keys and to values: row clip(j - i,
// -k, k) + k of [2k + 1][features].
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

template <typename T>
struct RelativeTable {
  const T* values = nullptr;     ///< [2 clip + 1][features], for each head or for all.
  std::int64_t head_stride = 0;  ///< 0: all heads share the table.
  std::int64_t clip = 0;         ///< k.
  std::int64_t features = 0;
  T* gradient = nullptr;         ///< In the same layout, added to; null if not wanted.
  std::int64_t first_query = 0;  ///< The position of query 0 among the keys.

  std::int64_t rows() const { return 2 * clip + 1; }
  const T* of_head(std::int64_t head) const { return values + head * head_stride; }
  /// The row for a distance j - i of positions.
  std::int64_t row(std::int64_t distance) const { return std::clamp(distance, -clip, clip) + clip; }
  /// The distance of the tile's first key from its first query.
  std::int64_t distance(const Tile<T>& tile) const { return tile.col - tile.row - first_query; }
};

}  // namespace heed::kernels
