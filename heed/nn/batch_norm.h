// Batch normalisation as a layer (Ioffe and Szegedy 2015). In training mode it normalises with the
// statistics of the batch and keeps a running average of them, with which it normalises in
// evaluation mode. The averages are buffers: they are saved with the parameters, and optimisers
// leave them alone.
#pragma once

#include "heed/nn/module.h"
#include "heed/ops/batch_norm.h"

namespace heed {

/// Options of BatchNorm.
struct BatchNormConfig {
  std::int64_t channels = 0;
  double eps = 1e-5;
  double momentum = 0.1;  // share of a new batch in the running averages
};

/// Parameters "weight" and "bias", buffers "running_mean" and "running_var", [channels] each and
/// named as in PyTorch.
class BatchNorm : public Module {
 public:
  explicit BatchNorm(const BatchNormConfig& config);

  void visit(ParameterVisitor& visitor) override;
  /// x [B, channels, …] -> the same shape. In training mode a call changes the running averages;
  /// calls on several threads must not share a layer then.
  Tensor operator()(const Tensor& x) const { return apply(x, {}); }
  /// relu(norm(x) + add), fused; `add` may be undefined.
  Tensor with_relu(const Tensor& x, const Tensor& add = {}) const {
    return apply(x, {.add = add, .relu = true});
  }

  Tensor weight, bias;               // [channels]
  Tensor running_mean, running_var;  // [channels]; the variance is divided by n - 1

 private:
  Tensor apply(const Tensor& x, BatchNormOptions options) const;
  void follow(const Tensor& mean, const Tensor& variance, std::int64_t count) const;

  BatchNormConfig config_;
};

}  // namespace heed
