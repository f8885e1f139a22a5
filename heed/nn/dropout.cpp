#include "heed/nn/dropout.h"

#include "heed/ops/dropout.h"

namespace heed {

Dropout::Dropout(const DropoutConfig& config) : p_(config.p) {
  HEED_CHECK(p_ >= 0.0 && p_ < 1.0, "[dropout] p {}: it must be at least 0 and below 1", p_);
}

Tensor Dropout::operator()(const Tensor& x) const { return dropout(x, p()); }  // as x

Tensor Dropout::operator()(const Tensor& x, const Tensor& residual) const {
  return dropout_add(x, p(), residual);  // as x
}

}  // namespace heed
