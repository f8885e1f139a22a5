#include "heed/attention/stages/weight_dropout.h"

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/dropout.h"

namespace heed {
namespace {

class WeightDropout : public StageOf<WeightDropout> {
 public:
  WeightDropout(double p, RandomStream random) : p_(p), random_(random) {}
  std::string name() const override { return "weight_dropout"; }
  template <typename T>
  TileStagePtr<T> make(const StageBinding&) const {
    if (p_ == 0.0) return nullptr;
    return std::make_unique<kernels::WeightDropout<T>>(kernels::WeightMask(random_, p_));
  }

 private:
  double p_;
  RandomStream random_;
};

}  // namespace

Reweight weight_dropout(double p, RandomStream random) {
  HEED_CHECK(p >= 0.0 && p < 1.0,
             "[weight_dropout] p is {}: the probability of dropping a weight must be in [0, 1)", p);
  return make_stage<Reweight, WeightDropout>(p, random);
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
