#include "heed/models/stack.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "heed/autograd/checkpoint.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

void StackState::reorder(std::span<const std::int64_t> from) {
  for (LayerState& layer : layers) layer.reorder(from);
}

bool StackState::can_join() const {
  return std::ranges::all_of(layers, [](const LayerState& layer) { return layer.can_join(); });
}

void StackState::join(const StackState& other) {
  HEED_ASSERT(layers.size() == other.layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].join(other.layers[i]);
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

// Row i of x, [N, E], becomes row places[i] of `to`, [B, T, E].
void copy_rows(const Tensor& x, std::span<const std::int64_t> places, Tensor& to) {
  const Tensor rows = contiguous_copy(x);
  const std::int64_t E = x.size(1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::copy_n(rows.data<float>() + static_cast<std::int64_t>(i) * E, E,
                to.mutable_data<float>() + places[i] * E);
  }
}

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

// Without gradients, encoders leave padding out: the rows of all sequences follow each other.
bool Stack::can_pack(const LayerInput& in) const {
  if (training() || grad_enabled() || in.x.dtype() != DType::f32 || in.memory.defined() ||
      in.causal || !in.mask.everything()) {
    return false;
  }
  return std::ranges::all_of(layers, [](const TransformerLayer& layer) {
    return layer.self_attn->takes_sequences() && !layer.multihead_attn;
  });
}

Tensor Stack::run_packed(LayerInput in) const {
  const std::int64_t B = in.x.size(0), T = in.x.size(1), E = in.x.size(2);
  std::vector<std::int64_t> starts = {0}, places;
  for (std::int64_t b = 0; b < B; ++b) {
    const std::int64_t length =
        in.lengths.defined() ? in.lengths.values<std::int64_t>()[static_cast<std::size_t>(b)] : T;
    for (std::int64_t t = 0; t < length; ++t) places.push_back(b * T + t);
    starts.push_back(std::ssize(places));
  }
  const PackedLengths sequences{.q_starts = starts, .k_starts = starts};
  const Tensor ids = from_values(std::span<const std::int64_t>(places), {std::ssize(places)});
  const bool has_padding = std::ssize(places) < B * T;
  const Tensor all = reshape(in.x, {1, B * T, E});
  in.x = has_padding ? index_select(all, 1, ids) : all;  // [1, N, E]
  in.lengths = {};
  in.sequences = &sequences;
  for (const TransformerLayer& layer : layers) in.x = layer(in);
  const Tensor y = norm ? (*norm)(in.x) : in.x;  // [1, N, E]
  if (!has_padding) return reshape(y, {B, T, E});
  Tensor padded = zeros({B, T, E});
  copy_rows(squeeze(y, 0), places, padded);
  return padded;
}

Tensor Stack::operator()(LayerInput in, std::vector<LayerWeights>* weights) const {
  if (weights == nullptr && can_pack(in)) return run_packed(std::move(in));
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

std::int64_t Stack::cache_bytes(std::int64_t positions, std::int64_t memory, CacheForm form) const {
  std::int64_t bytes = 0;
  for (const TransformerLayer& layer : layers) bytes += layer.cache_bytes(positions, memory, form);
  return bytes;
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
