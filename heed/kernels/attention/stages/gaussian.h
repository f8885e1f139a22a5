// Weights that decrease with the distance of a key from the centre of its query: W[i, j] *= exp(-(j
// - centre[i])^2 falloff). The gradient of the centres is summed over keys.
#pragma once

#include <cstdint>

#include "heed/kernels/attention/program.h"

namespace heed::kernels {

/// A centre for each query, by strides; a stride of 0 means that all share it. Queries are
/// contiguous.
template <typename T>
struct GaussianCentres {
  Heads<const T> values;
  Heads<T> gradient;      ///< Strides of 0 where `values` has them; added to; data may be null.
  std::int64_t rows = 0;  ///< Maximum number of queries of a sequence.
  T falloff = 0;          ///< 1 / (2 deviation^2).
};

template <typename T>
class Gaussian final : public TileStage<T> {
 public:
  explicit Gaussian(const GaussianCentres<T>& centres) : centres_(centres) {}

  StageNeeds needs(std::int64_t rows, bool backward) const override;
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;
  void finish(const StageSums<T>& sums) const override;

 private:
  bool learned() const { return centres_.gradient.data != nullptr; }
  const T* centres(const Tile<T>& tile) const {
    return centres_.values.at(tile.batch, tile.head) + tile.row;
  }

  GaussianCentres<T> centres_;
};

extern template class Gaussian<float>;
extern template class Gaussian<double>;

}  // namespace heed::kernels
