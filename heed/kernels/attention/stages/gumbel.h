// Noise that makes of the best key a random one: S[i, j] += g with g = -log(-log u) from Gumbel's
// distribution, u uniform; the greatest sum is that of key j with probability softmax(S)[i, j].
// A draw has no gradient by its scores, so none passes: backward clears it. It passes where softmax
// follows that is no draw (Jang et al. 2017).
#pragma once

#include <cstdint>

#include "heed/base/random.h"
#include "heed/kernels/attention/tile.h"

namespace heed::kernels {

/// Keys that share one block of random bits.
inline constexpr std::int64_t kNoiseKeys = 4;

/// The noise of a query and a key; `head` is from random_of_head.
double gumbel_noise(RandomStream head, std::int64_t query, std::int64_t key);

enum class NoiseGradient : std::uint8_t { cleared, passes };

template <typename T>
class GumbelNoise final : public TileStage<T> {
 public:
  explicit GumbelNoise(RandomStream random, NoiseGradient gradient = NoiseGradient::cleared)
      : random_(random), gradient_(gradient) {}

  void forward(const Tile<T>& tile, StageSpace<T> space) const override;
  void backward(const Tile<T>& gradient, StageSpace<T> space) const override;

 private:
  RandomStream random_;
  NoiseGradient gradient_;
};

extern template class GumbelNoise<float>;
extern template class GumbelNoise<double>;

}  // namespace heed::kernels
