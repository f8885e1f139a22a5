// gumbel_noise: Gumbel noise on scores.
#include "heed/attention/stages.h"

#include "heed/kernels/attention/stages/gumbel.h"

namespace heed {

Modifier gumbel_noise(RandomStream random) {
  return make_simple_stage<Modifier>("gumbel_noise", [random]<typename T>(T) -> TileStagePtr<T> {
    return std::make_unique<kernels::GumbelNoise<T>>(random, kernels::NoiseGradient::passes);
  });
}

}  // namespace heed
