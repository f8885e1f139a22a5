#include "heed/attention/stages/soft_cap.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/soft_cap.h"

namespace heed {
namespace {

class SoftCap : public StageOf<SoftCap> {
 public:
  explicit SoftCap(double cap) : cap_(cap) {}
  std::string name() const override { return "soft_cap"; }
  template <typename T>
  TileStagePtr<T> make(const StageBinding&) const {
    return std::make_unique<kernels::SoftCap<T>>(static_cast<T>(cap_));
  }

 private:
  double cap_;
};

}  // namespace

Modifier soft_cap(double cap) {
  HEED_CHECK(cap > 0.0 && std::isfinite(cap), "[soft_cap] cap {}: it must be positive and finite",
             cap);
  return make_stage<Modifier, SoftCap>(cap);
}

}  // namespace heed
