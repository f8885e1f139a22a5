// A bias by distance: S[i, j] += table[head][i - j]. ALiBi (Press et al. 2022) and the buckets of
// T5 (Raffel et al. 2020) have this form once their numbers are listed by distance.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

/// One number for every distance that occurs, smallest distance first.
template <typename T>
struct DistanceTable {
  const T* values = nullptr;
  std::int64_t head_stride = 0;  ///< 0: all heads share the table.
  std::int64_t offset = 0;       ///< The index of distance i - j = 0.
  std::int64_t length = 0;       ///< Length of the table of one head.
  T* gradient = nullptr;         ///< In the same layout, added to; null if not wanted.
};

template <typename T>
class DistanceBias final : public TileStage<T> {
 public:
  explicit DistanceBias(const DistanceTable<T>& table) : table_(table) {}

  StageNeeds needs(std::int64_t rows, bool backward) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void finish(const StageSums<T>& sums) const override;

 private:
  // The index of the tile's first query and key.
  std::int64_t index(const Tile<T>& tile) const { return tile.row - tile.col + table_.offset; }

  DistanceTable<T> table_;
};

extern template class DistanceBias<float>;
extern template class DistanceBias<double>;

}  // namespace heed::kernels
