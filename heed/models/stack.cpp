#include "heed/models/stack.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"

namespace heed {

void StackState::reorder(std::span<const std::int64_t> from) {
  for (LayerState& layer : layers) layer.reorder(from);
}

void StackState::observe(std::vector<LayerWeights>& to, Observed what) {
  to.assign(layers.size(), {});
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].observe(to[i], what);
}

Stack::Stack(const StackConfig& config, Generator& generator) {
  HEED_CHECK(config.layers >= 0, "[stack] {} layers: 0 or more", config.layers);
  layers.reserve(static_cast<std::size_t>(config.layers));
  for (std::int64_t i = 0; i < config.layers; ++i) {
    layers.emplace_back(config.block, config.kind, generator);
  }
  if (config.block.has_final_norm()) norm.emplace(config.block.norm_config());
}

void Stack::visit(ParameterVisitor& visitor) {
  visitor("layers", layers);
  visitor("norm", norm);
}

Tensor Stack::operator()(LayerInput in, std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->assign(layers.size(), {});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    in.weights = weights != nullptr ? &(*weights)[i] : nullptr;
    in.x = layers[i](in);  // [B, T, E]
  }
  return norm ? (*norm)(in.x) : std::move(in.x);
}

StackState Stack::start(const DecodeStart& from) const {
  StackState state;
  for (const TransformerLayer& layer : layers) state.layers.push_back(layer.start(from));
  return state;
}

Tensor Stack::step(Tensor x, StackState& state) const {
  const NoGrad no_grad;
  HEED_CHECK(state.layers.size() == layers.size(),
             "[stack] the state has {} layers, the stack {}: give what start() returned",
             state.layers.size(), layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i].step(x, state.layers[i]);
  return norm ? (*norm)(x) : x;
}

}  // namespace heed
