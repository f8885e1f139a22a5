// soft_cap: scores limited by tanh.
#include "heed/attention/stages.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/soft_cap.h"

namespace heed {

Modifier soft_cap(double cap) {
  HEED_CHECK(cap > 0.0 && std::isfinite(cap), "[soft_cap] cap {}: it must be positive and finite",
             cap);
  return make_simple_stage<Modifier>("soft_cap", [cap]<typename T>(T) -> TileStagePtr<T> {
    return std::make_unique<kernels::SoftCap<T>>(static_cast<T>(cap));
  });
}

}  // namespace heed
