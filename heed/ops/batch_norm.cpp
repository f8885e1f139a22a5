#include "heed/ops/batch_norm.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/kernels/batch_norm.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::ChannelShape;

ChannelShape channels_of(const Tensor& x) {
  ChannelShape shape{.batch = x.size(0), .channels = x.size(1), .places = 1};
  for (int axis = 2; axis < x.rank(); ++axis) shape.places *= x.size(axis);
  return shape;
}

void check_per_channel(const char* name, const Tensor& values, const Tensor& x) {
  if (!values.defined()) return;
  HEED_CHECK(values.shape() == Shape{x.size(1)} && values.dtype() == x.dtype(),
             "[batch_norm] the {} is {} {}, x is {} {}: it must be {} [{}], one number per channel",
             name, name_of(values.dtype()), to_string(values.shape()), name_of(x.dtype()),
             to_string(x.shape()), name_of(x.dtype()), x.size(1));
}

void check_operands(const Tensor& x, const BatchNormOptions& options) {
  HEED_CHECK(x.rank() >= 2, "[batch_norm] x {}: it must be [B, C, …]", to_string(x.shape()));
  check_per_channel("weight", options.weight, x);
  check_per_channel("bias", options.bias, x);
  check_per_channel("mean", options.mean, x);
  check_per_channel("variance", options.variance, x);
  HEED_CHECK(options.mean.defined() == options.variance.defined(),
             "[batch_norm] only one of mean and variance is given: give both, or none");
  HEED_CHECK(!options.add.defined() ||
                 (options.add.shape() == x.shape() && options.add.dtype() == x.dtype()),
             "[batch_norm] what is added is {} {}, x is {} {}: they must agree",
             name_of(options.add.dtype()), to_string(options.add.shape()), name_of(x.dtype()),
             to_string(x.shape()));
}

Tensor dense(const Tensor& x) { return x.defined() ? contiguous_copy(x.detach()) : Tensor(); }

template <typename T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

// What the backward pass needs.
struct Normalised {
  bool own_statistics;
  Tensor x, weight, mean, rstd;
  Tensor relu_y;  // the result, if it ended in ReLU
};

void send_back(Backward& b, const Normalised& n) {
  const Tensor dy = contiguous_copy(b.dy());
  const Shape channels{dy.size(1)};
  Tensor dx = empty_like(dy), dweight = empty(channels, dy.dtype());
  Tensor dbias = empty(channels, dy.dtype());
  Tensor dadd = b.needs(3) ? empty_like(dy) : Tensor();
  visit_float("batch_norm", dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::batch_norm_backward(
        kernels::BatchNormBackward<T>{.shape = channels_of(dy),
                                      .own_statistics = n.own_statistics,
                                      .x = n.x.data<T>(),
                                      .mean = n.mean.data<T>(),
                                      .rstd = n.rstd.data<T>(),
                                      .weight = data_or_null<T>(n.weight),
                                      .dy = dy.data<T>(),
                                      .dx = dx.mutable_data<T>(),
                                      .dweight = dweight.mutable_data<T>(),
                                      .dbias = dbias.mutable_data<T>(),
                                      .relu_y = data_or_null<T>(n.relu_y),
                                      .dadd = dadd.defined() ? dadd.mutable_data<T>() : nullptr});
  });
  b.add(0, std::move(dx));
  b.add(1, std::move(dweight));
  b.add(2, std::move(dbias));
  if (dadd.defined()) b.add(3, std::move(dadd));
}

}  // namespace

BatchNormResult batch_norm(const Tensor& x, const BatchNormOptions& options) {
  check_operands(x, options);
  const bool own = !options.mean.defined();
  const ChannelShape shape = channels_of(x);
  HEED_CHECK(!own || shape.elements_per_channel() > 0,
             "[batch_norm] x {}: a channel without elements has no mean; give the statistics",
             to_string(x.shape()));
  Normalised n{.own_statistics = own,
               .x = contiguous_copy(x.detach()),
               .weight = dense(options.weight),
               .mean = dense(options.mean),
               .rstd = {},
               .relu_y = {}};
  const Tensor bias = dense(options.bias), add = dense(options.add);
  BatchNormResult result{.y = empty_like(n.x), .mean = {}, .variance = dense(options.variance)};
  visit_float("batch_norm", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (own) {
      n.mean = empty({shape.channels}, x.dtype());
      result.variance = empty({shape.channels}, x.dtype());
      kernels::channel_moments(shape, n.x.data<T>(), n.mean.mutable_data<T>(),
                               result.variance.mutable_data<T>());
    }
    {
      const NoGrad no_grad;
      n.rstd = rsqrt(result.variance + options.eps);  // [C]
    }
    kernels::batch_norm(kernels::BatchNormForward<T>{.shape = shape,
                                                     .x = n.x.data<T>(),
                                                     .mean = n.mean.data<T>(),
                                                     .rstd = n.rstd.data<T>(),
                                                     .weight = data_or_null<T>(n.weight),
                                                     .bias = data_or_null<T>(bias),
                                                     .y = result.y.mutable_data<T>(),
                                                     .add = data_or_null<T>(add),
                                                     .relu = options.relu});
  });
  result.mean = n.mean;
  if (options.relu) n.relu_y = result.y;
  result.y = record("batch_norm", {x, options.weight, options.bias, options.add}, result.y,
                    [n = std::move(n)](Backward& b) { send_back(b, n); });
  return result;
}

}  // namespace heed
