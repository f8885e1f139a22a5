#include "heed/ops/dropout.h"

#include "heed/autograd/tape.h"
#include "heed/kernels/dropout.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

void check_probability(const char* op, double p) {
  HEED_CHECK(p >= 0.0 && p < 1.0,
             "[{}] p is {}: the probability of dropping an element must be in [0, 1)", op, p);
}

// `residual` may be undefined.
Tensor apply(const char* op, const kernels::DropoutMask& mask, const Tensor& x,
             const Tensor& residual) {
  return visit_float(op, x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor in = contiguous_copy(x);
    const Tensor added = residual.defined() ? contiguous_copy(residual) : Tensor();
    Tensor y = empty_like(x);
    kernels::dropout(
        mask, kernels::DropoutCall<T>{.n = x.numel(),
                                      .x = in.data<T>(),
                                      .residual = added.defined() ? added.data<T>() : nullptr,
                                      .y = y.mutable_data<T>()});
    return y;
  });
}

}  // namespace

Tensor dropout(const Tensor& x, double p, Generator& generator) {
  check_probability("dropout", p);
  if (p == 0.0) return x;
  const kernels::DropoutMask mask = kernels::dropout_mask(generator.next(), p);
  return record("dropout", {x}, apply("dropout", mask, x, Tensor()),
                [mask](Backward& b) { b.add(0, apply("dropout", mask, b.dy(), Tensor())); });
}

Tensor dropout_add(const Tensor& x, double p, const Tensor& residual, Generator& generator) {
  check_probability("dropout_add", p);
  HEED_CHECK(x.shape() == residual.shape() && x.dtype() == residual.dtype(),
             "[dropout_add] x is {} {}, the residual {} {}: they must agree", name_of(x.dtype()),
             to_string(x.shape()), name_of(residual.dtype()), to_string(residual.shape()));
  if (p == 0.0) return x + residual;
  const kernels::DropoutMask mask = kernels::dropout_mask(generator.next(), p);
  return record("dropout_add", {x, residual}, apply("dropout_add", mask, x, residual),
                [mask](Backward& b) {
                  if (b.needs(0)) b.add(0, apply("dropout_add", mask, b.dy(), Tensor()));
                  b.add(1, b.dy());
                });
}

}  // namespace heed
