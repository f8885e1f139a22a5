// gaussian: weights under a Gaussian around the centre of each query.
#include "heed/attention/stages.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/gaussian.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

using kernels::AttentionShape;
using kernels::Heads;

// A view of rows by strides, with stride 0 for shared axes.
template <typename T>
Heads<T> shared_rows(T* data, const Tensor& x, const AttentionShape& shape) {
  return {data, x.size(0) == shape.B ? x.strides()[0] : 0,
          x.size(1) == shape.H ? x.strides()[1] : 0, 1};
}

class Gaussian : public StageOf<Gaussian> {
 public:
  Gaussian(Tensor centres, double deviation)
      : centres_(std::move(centres)), falloff_(0.5 / (deviation * deviation)) {}
  std::string name() const override { return "gaussian"; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "centres", centres_, dtype);
    check_query_numbers(name(), "centres", centres_, shape);
    return {contiguous(centres_)};  // [B, H, Tq]
  }

  template <typename T>
  TileStagePtr<T> make(const StageBinding& to) const {
    kernels::GaussianCentres<T> centres;
    centres.values = shared_rows(to.input<T>(0), to.inputs[0], to.shape);
    centres.rows = to.shape.Tq;
    centres.falloff = static_cast<T>(falloff_);
    if (to.wants_gradient(0)) {
      centres.gradient = shared_rows(to.gradient<T>(0), to.gradients[0], to.shape);
    }
    return std::make_unique<kernels::Gaussian<T>>(centres);
  }

 private:
  Tensor centres_;
  double falloff_;
};

}  // namespace

Reweight gaussian(const Tensor& centres, double deviation) {
  HEED_CHECK(centres.defined() && centres.rank() == 3,
             "[gaussian] centres {}: they must be [B, H, Tq], one for each query",
             centres.defined() ? to_string(centres.shape()) : "undefined");
  HEED_CHECK(deviation > 0.0 && std::isfinite(deviation),
             "[gaussian] deviation {}: it must be positive and finite", deviation);
  return make_stage<Reweight, Gaussian>(centres, deviation);
}

}  // namespace heed
