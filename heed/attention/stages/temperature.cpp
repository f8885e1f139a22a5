// temperature: scores divided by a number.
#include "heed/attention/stages.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/temperature.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

class Temperature : public StageOf<Temperature> {
 public:
  Temperature(double fixed, Tensor learned) : fixed_(fixed), learned_(std::move(learned)) {}
  std::string name() const override { return "temperature"; }
  TensorList inputs(const kernels::AttentionShape& shape, DType dtype) const override {
    if (!learned_.defined()) return {full({1}, 1.0 / fixed_, dtype)};
    check_parameter(name(), "temperature", learned_, dtype);
    HEED_CHECK(learned_.numel() == 1 || learned_.shape() == Shape({shape.H}),
               "[attention] temperature {}: it must be one number or {}, one for each head",
               to_string(learned_.shape()), to_string(Shape({shape.H})));
    return {reciprocal(reshape(learned_, {-1}))};  // [H] or [1]
  }
  template <typename T>
  TileStagePtr<T> make(const StageBinding& to) const {
    kernels::HeadFactors<T> factors;
    factors.values = to.input<T>(0);
    factors.head_stride = to.inputs[0].numel() == 1 ? 0 : 1;
    factors.gradient = to.gradient<T>(0);
    return std::make_unique<kernels::Temperature<T>>(factors);
  }

 private:
  double fixed_;
  Tensor learned_;  // or undefined
};

}  // namespace

Modifier temperature(double temperature) {
  HEED_CHECK(temperature > 0.0 && std::isfinite(temperature),
             "[temperature] temperature {}: it must be positive and finite", temperature);
  return make_stage<Modifier, Temperature>(temperature, Tensor());
}

Modifier temperature(const Tensor& temperature) {
  HEED_CHECK(temperature.defined(), "[temperature] temperature is an undefined tensor");
  return make_stage<Modifier, Temperature>(1.0, temperature);
}

}  // namespace heed
