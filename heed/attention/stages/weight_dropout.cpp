// weight_dropout: dropout of attention weights.
#include "heed/attention/stages.h"

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/dropout.h"

namespace heed {

Reweight weight_dropout(double p, RandomStream random) {
  HEED_CHECK(p >= 0.0 && p < 1.0,
             "[weight_dropout] p is {}: the probability of dropping a weight must be in [0, 1)", p);
  return make_simple_stage<Reweight>(
      "weight_dropout", [p, random]<typename T>(T) -> TileStagePtr<T> {
        if (p == 0.0) return nullptr;
        return std::make_unique<kernels::WeightDropout<T>>(kernels::WeightMask(random, p));
      });
}

Reweight weight_dropout(double p, std::uint64_t seed) {
  return weight_dropout(p, RandomStream{seed, 0});
}

Reweight weight_dropout(double p) {
  HEED_CHECK(p == 0.0,
             "[weight_dropout] p is {} and there is no seed: give one, or a stream of a generator",
             p);
  return weight_dropout(p, RandomStream{});
}

}  // namespace heed
