#include "heed/nn/conv.h"

#include "heed/nn/init.h"
#include "heed/ops/conv.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

// The weight of a Conv1d or Conv2d; `kernel` holds the sizes after the two channel sizes.
template <typename Config>
Tensor make_weight(const char* layer, const Config& config, const Dims& kernel,
                   Generator& generator) {
  HEED_CHECK(config.in > 0 && config.out > 0,
             "[{}] in {}, out {}: both channel counts are required and must be positive", layer,
             config.in, config.out);
  HEED_CHECK(config.groups > 0 && config.in % config.groups == 0 && config.out % config.groups == 0,
             "[{}] groups {} must divide in {} and out {}", layer, config.groups, config.in,
             config.out);
  Shape shape{config.out, config.in / config.groups};
  for (const std::int64_t size : kernel) {
    HEED_CHECK(size > 0, "[{}] a kernel of size {}: it must be at least 1", layer, size);
    shape.push_back(size);
  }
  Tensor weight = empty(shape);  // [out, in / groups, kernel…]
  init::kaiming_uniform(weight, generator);
  return weight.requires_grad();
}

Tensor make_bias(const Tensor& weight, Generator& generator) {
  Tensor bias = empty({weight.size(0)});  // [out]
  init::bias_uniform(bias, weight, generator);
  return bias.requires_grad();
}

}  // namespace

Conv1d::Conv1d(const Conv1dConfig& config, Generator& generator)
    : weight(make_weight("conv1d", config, {config.kernel}, generator)), config_(config) {
  if (config.bias) bias = make_bias(weight, generator);
}

void Conv1d::visit(ParameterVisitor& visitor) {
  visitor("weight", weight);
  visitor("bias", bias);
}

Tensor Conv1d::operator()(const Tensor& x) const {
  return conv1d(x, weight,
                {.bias = bias,
                 .stride = config_.stride,
                 .padding = config_.padding,
                 .dilation = config_.dilation,
                 .groups = config_.groups});  // [B, out, L']
}

Conv2d::Conv2d(const Conv2dConfig& config, Generator& generator)
    : weight(make_weight("conv2d", config, {config.kernel.height, config.kernel.width}, generator)),
      config_(config) {
  if (config.bias) bias = make_bias(weight, generator);
}

void Conv2d::visit(ParameterVisitor& visitor) {
  visitor("weight", weight);
  visitor("bias", bias);
}

Tensor Conv2d::operator()(const Tensor& x) const {
  return conv2d(x, weight,
                {.bias = bias,
                 .stride = config_.stride,
                 .padding = config_.padding,
                 .dilation = config_.dilation,
                 .groups = config_.groups});  // [B, out, H', W']
}

}  // namespace heed
