// Scores multiplied by a factor, learned or not, one per head or one for all: S *= factor[head],
// where factor = 1 / temperature.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

/// The factors of the heads.
template <typename T>
struct HeadFactors {
  const T* values = nullptr;
  std::int64_t head_stride = 0;  ///< 0: all heads share one.
  T* gradient = nullptr;         ///< In the same layout, added to; null if not wanted.
};

template <typename T>
class Temperature final : public TileStage<T> {
 public:
  explicit Temperature(const HeadFactors<T>& factors) : factors_(factors) {}

  StageNeeds needs(std::int64_t rows, bool backward) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void finish(const StageSums<T>& sums) const override;

 private:
  T factor(const Tile<T>& tile) const { return factors_.values[tile.head * factors_.head_stride]; }

  HeadFactors<T> factors_;
};

extern template class Temperature<float>;
extern template class Temperature<double>;

}  // namespace heed::kernels
