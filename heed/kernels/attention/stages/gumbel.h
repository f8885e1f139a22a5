// Gumbel noise, which turns an argmax into a sample: S[i, j] += g with g = -log(-log u), u uniform;
// then key j has the largest score with probability softmax(S)[i, j]. A sample has no gradient with
// respect to the scores, so backward sets it to 0. If softmax is used instead of an argmax (Jang et
// al. 2017), the gradient passes unchanged.
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
