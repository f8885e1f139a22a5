#include "heed/nn/linear.h"

#include "heed/nn/init.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/create.h"

namespace heed {

Linear::Linear(const LinearConfig& config, Generator& generator)
    : activation_(function_of(config.activation)) {
  HEED_CHECK(config.in > 0 && config.out > 0,
             "[linear] in {}, out {}: both are required and must be positive", config.in,
             config.out);
  weight = empty({config.out, config.in});  // [out, in]
  init::kaiming_uniform(weight, generator);
  weight.requires_grad();
  if (!config.bias) return;
  bias = empty({config.out});  // [out]
  init::bias_uniform(bias, weight, generator);
  bias.requires_grad();
}

void Linear::visit(ParameterVisitor& visitor) {
  visitor("weight", weight);
  visitor("bias", bias);
}

Tensor Linear::operator()(const Tensor& x) const {
  return linear(x, weight, {.bias = bias, .activation = activation_});  // […, out]
}

}  // namespace heed
