// dense_bias: a bias for every score.
#include "heed/attention/stages.h"

#include "heed/base/error.h"
#include "heed/kernels/attention/stages/dense_bias.h"
#include "heed/ops/view.h"

namespace heed {
namespace {

using kernels::AttentionShape;
using kernels::Heads;

// A view by strides, with stride 0 for shared axes.
template <typename T>
Heads<T> shared_heads(T* data, const Tensor& x, const Shape& whole) {
  const auto stride = [&](int axis) { return x.size(axis) == whole[axis] ? x.strides()[axis] : 0; };
  return {data, stride(0), stride(1), stride(2)};
}

// Whether keys are contiguous and no two elements share memory.
bool readable(const Tensor& x) {
  for (int axis = 0; axis < 3; ++axis) {
    if (x.size(axis) > 1 && x.strides()[axis] == 0) return false;
  }
  return x.size(3) <= 1 || x.strides()[3] == 1;
}

class DenseBias : public StageOf<DenseBias> {
 public:
  explicit DenseBias(Tensor bias) : bias_(std::move(bias)) {}
  std::string name() const override { return "dense_bias"; }
  TensorList inputs(const AttentionShape& shape, DType dtype) const override {
    check_parameter(name(), "bias", bias_, dtype);
    const Shape whole = shape_of(shape);
    Tensor bias = bias_;
    while (bias.rank() < 4) bias = unsqueeze(bias, 0);
    for (int axis = 0; axis < 4; ++axis) {
      HEED_CHECK(bias.size(axis) == whole[axis] || bias.size(axis) == 1,
                 "[attention] bias of dense_bias {} does not broadcast to [B, H, Tq, Tk] = {}",
                 to_string(bias_.shape()), to_string(whole));
    }
    if (bias.size(3) != shape.Tk) {
      bias = expand(bias, {bias.size(0), bias.size(1), bias.size(2), shape.Tk});
    }
    return {readable(bias) ? bias : contiguous(bias)};
  }

  template <typename T>
  TileStagePtr<T> make(const StageBinding& to) const {
    const Shape whole = shape_of(to.shape);
    kernels::DenseBiasTable<T> table;
    table.values = shared_heads(to.input<T>(0), to.inputs[0], whole);
    table.keys = to.shape.Tk;
    if (to.wants_gradient(0)) {
      table.gradient = shared_heads(to.gradient<T>(0), to.gradients[0], whole);
    }
    return std::make_unique<kernels::DenseBias<T>>(table);
  }

 private:
  static Shape shape_of(const AttentionShape& shape) {
    return {shape.B, shape.H, shape.Tq, shape.Tk};
  }
  Tensor bias_;
};

}  // namespace

Modifier dense_bias(const Tensor& bias) {
  HEED_CHECK(bias.rank() <= 4, "[dense_bias] bias {}: at most [B, H, Tq, Tk]",
             to_string(bias.shape()));
  return make_stage<Modifier, DenseBias>(bias);
}

}  // namespace heed
