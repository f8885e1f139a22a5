#include "heed/ops/norm.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/kernels/norm.h"
#include "heed/ops/rows.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

using kernels::Norm;

template <typename T>
const T* data_or_null(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

template <typename T>
T* mutable_data_or_null(Tensor& x) {
  return x.defined() ? x.mutable_data<T>() : nullptr;
}

Tensor contiguous_or_none(const Tensor& x) { return x.defined() ? contiguous_copy(x) : Tensor(); }

void check_parameter(const char* op, const char* name, const Tensor& parameter, const Tensor& x) {
  if (!parameter.defined()) return;
  HEED_CHECK(parameter.shape() == Shape{x.size(-1)} && parameter.dtype() == x.dtype(),
             "[{}] the {} is {} {}, x is {} {}: it must be {} [{}], one number per feature", op,
             name, name_of(parameter.dtype()), to_string(parameter.shape()), name_of(x.dtype()),
             to_string(x.shape()), name_of(x.dtype()), x.size(-1));
}

// The results of a norm, and what its backward pass needs.
struct Computed {
  Norm kind;
  Tensor y;
  Tensor input;   // the normalised input: x or x + residual
  Tensor weight;  // undefined if there is none
  Tensor mean;    // [rows]
  Tensor rstd;    // [rows]
};

// `residual` may be undefined.
Computed compute(const char* op, Norm kind, const Tensor& x, const Tensor& residual,
                 const NormOptions& options) {
  HEED_CHECK(x.rank() >= 1, "[{}] a scalar has no features to normalise: x needs an axis", op);
  check_parameter(op, "weight", options.weight, x);
  check_parameter(op, "bias", options.bias, x);
  const Tensor in = contiguous_copy(x);
  const Tensor added = contiguous_or_none(residual);
  const Tensor bias = contiguous_or_none(options.bias);
  const kernels::Rows rows = rows_of(in);
  Computed c{.kind = kind,
             .y = empty_like(in),
             .input = residual.defined() ? empty_like(in) : in,
             .weight = contiguous_or_none(options.weight),
             .mean = empty({rows.count}, x.dtype()),
             .rstd = empty({rows.count}, x.dtype())};
  visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::norm(
        kind, kernels::NormForward<T>{.rows = rows,
                                      .eps = options.eps,
                                      .x = in.data<T>(),
                                      .residual = data_or_null<T>(added),
                                      .weight = data_or_null<T>(c.weight),
                                      .bias = data_or_null<T>(bias),
                                      .sum = added.defined() ? c.input.mutable_data<T>() : nullptr,
                                      .y = c.y.mutable_data<T>(),
                                      .mean = c.mean.mutable_data<T>(),
                                      .rstd = c.rstd.mutable_data<T>()});
  });
  return c;
}

// Adds the gradients of weight and bias (inputs `weight_at` and `weight_at` + 1) and returns the
// gradient of the normalised input. `dsum`, if defined, is the gradient of the sum and is added to
// it.
Tensor send_back(Backward& b, const Computed& c, int weight_at, const Tensor& dsum) {
  const Tensor dy = contiguous_copy(b.dy());
  const Shape features{dy.size(-1)};
  Tensor dx = empty_like(dy);
  Tensor dweight = b.needs(weight_at) ? empty(features, dy.dtype()) : Tensor();
  Tensor dbias = b.needs(weight_at + 1) ? empty(features, dy.dtype()) : Tensor();
  visit_float("norm", dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    kernels::norm_backward(c.kind,
                           kernels::NormBackward<T>{.rows = rows_of(dy),
                                                    .input = c.input.data<T>(),
                                                    .weight = data_or_null<T>(c.weight),
                                                    .mean = c.mean.data<T>(),
                                                    .rstd = c.rstd.data<T>(),
                                                    .dy = dy.data<T>(),
                                                    .dsum = data_or_null<T>(dsum),
                                                    .dx = dx.mutable_data<T>(),
                                                    .dweight = mutable_data_or_null<T>(dweight),
                                                    .dbias = mutable_data_or_null<T>(dbias)});
  });
  b.add(weight_at, std::move(dweight));
  b.add(weight_at + 1, std::move(dbias));
  return dx;
}

Tensor norm(const char* op, Norm kind, const Tensor& x, const NormOptions& options) {
  Computed c = compute(op, kind, x, Tensor(), options);
  Tensor y = std::exchange(c.y, Tensor());
  return record(op, {x, options.weight, options.bias}, std::move(y),
                [c = std::move(c)](Backward& b) { b.add(0, send_back(b, c, 1, Tensor())); });
}

NormResidual add_norm(const char* op, Norm kind, const Tensor& x, const Tensor& residual,
                      const NormOptions& options) {
  HEED_CHECK(x.shape() == residual.shape() && x.dtype() == residual.dtype(),
             "[{}] x is {} {}, the residual {} {}: they must agree", op, name_of(x.dtype()),
             to_string(x.shape()), name_of(residual.dtype()), to_string(residual.shape()));
  Computed c = compute(op, kind, x, residual, options);
  NormResidual result{std::exchange(c.y, Tensor()), c.input};
  record_all(op, {x, residual, options.weight, options.bias}, {&result.y, &result.sum},
             [c = std::move(c)](Backward& b) {
               const Tensor dsum = b.arrived(1) ? contiguous_copy(b.dy(1)) : Tensor();
               Tensor dx = b.arrived(0) ? send_back(b, c, 2, dsum) : dsum;
               b.add(0, dx);
               b.add(1, std::move(dx));
             });
  return result;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const NormOptions& options) {
  return norm("layer_norm", Norm::layer, x, options);
}

Tensor rms_norm(const Tensor& x, const NormOptions& options) {
  return norm("rms_norm", Norm::rms, x, options);
}

NormResidual add_layer_norm(const Tensor& x, const Tensor& residual, const NormOptions& options) {
  return add_norm("add_layer_norm", Norm::layer, x, residual, options);
}

NormResidual add_rms_norm(const Tensor& x, const Tensor& residual, const NormOptions& options) {
  return add_norm("add_rms_norm", Norm::rms, x, residual, options);
}

}  // namespace heed
