#include "heed/models/stack.h"

#include <utility>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"

namespace heed {
namespace {

template <typename Layer>
std::vector<Layer> layers_of(const StackConfig& config, Generator& generator) {
  HEED_CHECK(config.layers >= 0, "[stack] {} layers: 0 or more", config.layers);
  std::vector<Layer> layers;
  layers.reserve(static_cast<std::size_t>(config.layers));
  for (std::int64_t i = 0; i < config.layers; ++i) layers.emplace_back(config.layer, generator);
  return layers;
}

std::optional<LayerNorm> norm_of(const StackConfig& config) {
  if (!config.norm) return {};
  return LayerNorm(
      {.size = config.layer.embed, .eps = config.layer.eps, .bias = config.layer.bias});
}

Tensor normed(const std::optional<LayerNorm>& norm, const Tensor& x) {
  return norm ? (*norm)(x) : x;
}

// Every layer takes what the one before it gave; both kinds of input call that x.
template <typename Layer, typename Input>
Tensor run(const std::vector<Layer>& layers, Input& in, std::vector<LayerWeights>* weights) {
  for (const Layer& layer : layers) {
    LayerWeights* const seen = weights != nullptr ? &weights->emplace_back() : nullptr;
    in.x = layer(in, seen);  // [B, T, E]
  }
  return std::move(in.x);
}

template <typename Layer>
Tensor run_step(const std::vector<Layer>& layers, Tensor x, StackState& state) {
  HEED_CHECK(state.layers.size() == layers.size(),
             "[stack] the state has {} layers, the stack {}: give what start() returned",
             state.layers.size(), layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) x = layers[i].step(x, *state.layers[i]);
  return x;
}

}  // namespace

void StackState::reorder(std::span<const std::int64_t> from) {
  for (const auto& layer : layers) layer->reorder(from);
}

// ---- encoder ------------------------------------------------------------------------------------

EncoderStack::EncoderStack(const StackConfig& config, Generator& generator)
    : layers(layers_of<TransformerEncoderLayer>(config, generator)), norm(norm_of(config)) {}

void EncoderStack::visit(ParameterVisitor& visitor) {
  visitor("layers", layers);
  visitor("norm", norm);
}

Tensor EncoderStack::operator()(AttentionInput in, std::vector<LayerWeights>* weights) const {
  return normed(norm, run(layers, in, weights));
}

StackState EncoderStack::start(std::int64_t batch) const {
  StackState state;
  for (const auto& layer : layers) state.layers.push_back(layer.start(batch));
  return state;
}

Tensor EncoderStack::step(Tensor x, StackState& state) const {
  const NoGrad no_grad;
  return normed(norm, run_step(layers, std::move(x), state));
}

// ---- decoder ------------------------------------------------------------------------------------

DecoderStack::DecoderStack(const StackConfig& config, Generator& generator)
    : layers(layers_of<TransformerDecoderLayer>(config, generator)), norm(norm_of(config)) {}

void DecoderStack::visit(ParameterVisitor& visitor) {
  visitor("layers", layers);
  visitor("norm", norm);
}

Tensor DecoderStack::operator()(DecoderLayerInput in, std::vector<LayerWeights>* weights) const {
  return normed(norm, run(layers, in, weights));
}

StackState DecoderStack::start(const DecodeStart& from) const {
  StackState state;
  for (const auto& layer : layers) state.layers.push_back(layer.start(from));
  return state;
}

Tensor DecoderStack::step(Tensor x, StackState& state) const {
  const NoGrad no_grad;
  return normed(norm, run_step(layers, std::move(x), state));
}

}  // namespace heed
