// Soft-capping of scores: S = c tanh(S / c), so that none exceeds c (Gemma 2, 2024).
#pragma once

#include <cstdint>

#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

template <typename T>
class SoftCap final : public TileStage<T> {
 public:
  explicit SoftCap(T cap) : cap_(cap) {}

  StageNeeds needs(std::int64_t, bool backward) const override { return {.saved = backward}; }
  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;

 private:
  T cap_;
};

extern template class SoftCap<float>;
extern template class SoftCap<double>;

}  // namespace heed::kernels
