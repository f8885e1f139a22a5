#include "heed/attention/stages/gumbel_noise.h"

#include "heed/kernels/attention/stages/gumbel.h"

namespace heed {
namespace {

class GumbelNoise : public StageOf<GumbelNoise> {
 public:
  explicit GumbelNoise(RandomStream random) : random_(random) {}
  std::string name() const override { return "gumbel_noise"; }
  template <typename T>
  TileStagePtr<T> make(const StageBinding&) const {
    return std::make_unique<kernels::GumbelNoise<T>>(random_, kernels::NoiseGradient::passes);
  }

 private:
  RandomStream random_;
};

}  // namespace

Modifier gumbel_noise(RandomStream random) { return make_stage<Modifier, GumbelNoise>(random); }

}  // namespace heed
