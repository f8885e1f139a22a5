#include "heed/nn/linear.h"

#include "heed/nn/init.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

Linear::Linear(const LinearConfig& config, Generator& generator)
    : activation_(function_of(config.activation)) {
  HEED_CHECK(config.in > 0 && config.out > 0,
             "[linear] in {}, out {}: both are required and must be positive", config.in,
             config.out);
  weight = Weight(empty({config.out, config.in}));  // [out, in]
  init::kaiming_uniform(weight.data, generator);
  weight.data.requires_grad();
  if (!config.bias) return;
  bias = empty({config.out});  // [out]
  init::bias_uniform(bias, weight.data, generator);
  bias.requires_grad();
}

Linear::Linear(Weight of, Tensor with) : weight(std::move(of)), bias(std::move(with)) {
  HEED_CHECK(weight.packed || (weight.defined() && weight.data.rank() == 2),
             "[linear] weight must be [out, in]");
  HEED_CHECK(!bias.defined() || bias.shape() == Shape{weight.out()},
             "[linear] bias {} of a weight [{}, {}]: it must be [out]", to_string(bias.shape()),
             weight.out(), weight.in());
}

void Linear::visit(ParameterVisitor& visitor) {
  visitor("weight", weight);
  visitor("bias", bias);
  visitor("lora_down", weight.adapter.down);
  visitor("lora_up", weight.adapter.up);
}

Tensor Linear::operator()(const Tensor& x) const {
  return weight.product(x, {.bias = bias, .activation = activation_});  // […, out]
}

Tensor Linear::rows(const Tensor& x, std::int64_t begin, std::int64_t end) const {
  const Tensor part = bias.defined() ? slice(bias, 0, begin, end) : bias;
  return weight.product_of_rows(x, begin, end, {.bias = part, .activation = activation_});
}

}  // namespace heed
