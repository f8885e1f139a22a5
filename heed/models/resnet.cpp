#include "heed/models/resnet.h"

#include "heed/base/error.h"
#include "heed/ops/reduce.h"

namespace heed {
namespace {

constexpr std::int64_t kStages = 3;

const ResNetConfig& checked(const ResNetConfig& config) {
  config.validate();
  config.sizes.check("resnet");
  return config;
}

}  // namespace

void ResNetConfig::fields(io::Fields& field) {
  sizes.fields(field);
  field("stem", stem, "channels of the first stage", {.min = 1, .max = 1 << 16});
  field("blocks", blocks, "residual blocks of each of the three stages", {.min = 1, .max = 1000});
  field("attention", attention, "a block like \"non_local form=dot\" in the second stage, or none");
}

void ResNetConfig::validate() const {
  HEED_CHECK(stem >= 1 && blocks >= 1, "[resnet] {} channels and {} blocks: at least 1 of each",
             stem, blocks);
  HEED_CHECK(!attention || attention->traits().form == Form::picture,
             "[resnet] attention '{}' does not read pictures: give \"non_local\" with its options, "
             "or none",
             attention->text());
}

std::vector<AttentionChoice> ResNetConfig::attentions() const {
  if (!attention) return {};
  return {*attention};
}

ResNet::ResNet(const Config& config, Generator& generator)
    : conv(same_conv(checked(config).sizes.picture.channels, config.stem, 3, 1, generator)),
      norm({.channels = config.stem}),
      scores({.in = config.stem << (kStages - 1), .out = config.sizes.classes}, generator),
      config_(config) {
  blocks = residual_blocks({.channels = config.stem, .stages = kStages, .blocks = config.blocks},
                           generator);
  if (config.attention) {
    attention = config.attention->within({.embed = 2 * config.stem}).make(generator);
  }
}

ModelChoice ResNet::choice() const { return choice_of<ResNet>(kResNet, config_); }

void ResNet::visit(ParameterVisitor& visitor) {
  visitor("conv", conv);
  visitor("norm", norm);
  visitor("blocks", blocks);
  visitor("attention", attention);
  visitor("scores", scores);
}

Tensor ResNet::operator()(const Tensor& pictures, std::vector<LayerWeights>* weights) const {
  check_pictures("resnet", config_.sizes.picture, pictures);
  if (weights != nullptr) weights->assign(attention ? 1 : 0, {});
  Tensor x = norm.with_relu(conv(pictures));  // [B, stem, H, W]
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    x = blocks[i](x);
    if (attention && std::cmp_equal(i, config_.blocks)) {  // the first block of the second stage
      Tensor* const seen = weights != nullptr ? &weights->front().self : nullptr;
      x = (*attention)({.x = x, .weights = seen});
    }
  }
  return scores(mean(x, {2, 3}));  // [B, C]
}

}  // namespace heed
