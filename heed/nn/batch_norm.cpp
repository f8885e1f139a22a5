#include "heed/nn/batch_norm.h"

#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

BatchNorm::BatchNorm(const BatchNormConfig& config) : config_(config) {
  HEED_CHECK(config.channels > 0, "[batch_norm] {} channels: there must be at least one",
             config.channels);
  weight = ones({config.channels}).requires_grad();
  bias = zeros({config.channels}).requires_grad();
  running_mean = zeros({config.channels});
  running_var = ones({config.channels});
}

void BatchNorm::visit(ParameterVisitor& visitor) {
  visitor("weight", weight);
  visitor("bias", bias);
  visitor.buffer("running_mean", running_mean);
  visitor.buffer("running_var", running_var);
}

// `options` say what follows the norm.
Tensor BatchNorm::apply(const Tensor& x, BatchNormOptions options) const {
  HEED_CHECK(x.rank() >= 2 && x.size(1) == config_.channels,
             "[batch_norm] x {}: it must be [B, {}, …]", to_string(x.shape()), config_.channels);
  options.weight = weight;
  options.bias = bias;
  options.eps = config_.eps;
  if (!training()) {
    options.mean = running_mean;
    options.variance = running_var;
    return batch_norm(x, options).y;
  }
  const BatchNormResult result = batch_norm(x, options);
  follow(result.mean, result.variance, x.numel() / config_.channels);
  return result.y;
}

// Moves the running averages towards the statistics of a batch of `count` elements per channel.
void BatchNorm::follow(const Tensor& mean, const Tensor& variance, std::int64_t count) const {
  visit_float("batch_norm", mean.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T share = static_cast<T>(config_.momentum);
    const T unbiased = static_cast<T>(count) / static_cast<T>(count > 1 ? count - 1 : 1);
    Tensor mean_to = running_mean, variance_to = running_var;  // the same memory
    T* const means = mean_to.mutable_data<T>();
    T* const variances = variance_to.mutable_data<T>();
    for (std::int64_t c = 0; c < config_.channels; ++c) {
      means[c] += share * (mean.data<T>()[c] - means[c]);
      variances[c] += share * (unbiased * variance.data<T>()[c] - variances[c]);
    }
  });
}

}  // namespace heed
