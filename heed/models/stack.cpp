#include "heed/models/stack.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "heed/autograd/checkpoint.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"

namespace heed {

void StackState::reorder(std::span<const std::int64_t> from) {
  for (LayerState& layer : layers) layer.reorder(from);
}

void StackState::observe(std::vector<LayerWeights>& to, ObservedWeights what) {
  to.assign(layers.size(), {});
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].observe(to[i], what);
}

namespace {

// The position parameters of all layers become those of the first one.
void share_positions(std::vector<TransformerLayer>& layers) {
  constexpr std::string_view kPosition = "self_attn.position.";
  std::map<std::string, Tensor, std::less<>> shared;
  const auto share = [&](const std::string& name, Tensor& parameter) {
    if (!name.starts_with(kPosition)) return;
    parameter = shared.try_emplace(name, parameter).first->second;
  };
  const auto ignore = [](Module&) {};
  for (TransformerLayer& layer : layers) ParameterVisitor(share, ignore).root(layer);
}

}  // namespace

Stack::Stack(const StackConfig& config, Generator& generator) {
  HEED_CHECK(config.layers >= 0 && config.layers <= kMaxLayers,
             "[stack] {} layers: give a number from 0 to {}", config.layers, kMaxLayers);
  layers.reserve(static_cast<std::size_t>(config.layers));
  for (std::int64_t i = 0; i < config.layers; ++i) {
    layers.emplace_back(config.block.of_layer(i), config.kind, generator);
  }
  if (config.block.shared_positions) share_positions(layers);
  if (config.block.has_final_norm()) norm.emplace(config.block.norm_config());
}

void Stack::visit(ParameterVisitor& visitor) {
  visitor("layers", layers);
  visitor("norm", norm);
}

namespace {

// The layer as a function of the tensors that gradients go to, computed again in the backward pass.
Tensor run_checkpointed(const TransformerLayer& layer, LayerInput in) {
  std::vector<Tensor> inputs = {std::exchange(in.x, {})};
  if (in.memory.defined()) inputs.push_back(std::exchange(in.memory, {}));
  return checkpoint(
      [&layer, in](std::span<const Tensor> given) {
        LayerInput again = in;
        again.x = given[0];
        if (given.size() > 1) again.memory = given[1];
        return layer(again);
      },
      inputs);
}

}  // namespace

Tensor Stack::operator()(LayerInput in, std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->assign(layers.size(), {});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    in.weights = weights != nullptr ? &(*weights)[i] : nullptr;
    const bool again = checkpoints_activations && training() && weights == nullptr;
    in.x = again ? run_checkpointed(layers[i], in) : layers[i](in);  // [B, T, E]
  }
  return norm ? (*norm)(in.x) : std::move(in.x);
}

int checkpoint_activations(Module& model, bool on) {
  int stacks = 0;
  const auto ignore = [](const std::string&, Tensor&) {};
  const auto set = [&](Module& module) {
    if (auto* const stack = dynamic_cast<Stack*>(&module)) {
      stack->checkpoints_activations = on;
      ++stacks;
    }
  };
  ParameterVisitor(ignore, set).root(model);
  return stacks;
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
