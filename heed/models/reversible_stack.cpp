#include "heed/models/reversible_stack.h"

#include <utility>

#include "heed/autograd/checkpoint.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/join.h"

namespace heed {
namespace {

NormConfig norm_of_both(const ReversibleStackConfig& config) {
  HEED_CHECK(!config.blocks.empty(), "[reversible_stack] there are no layers: give at least one");
  NormConfig norm = config.blocks.front().norm_config();
  norm.size *= 2;
  return norm;
}

// The part, computed again in the backward pass from its input.
ReversiblePart with_checkpoint(ReversiblePart part) {
  return [part = std::move(part)](const Tensor& x) {
    return checkpoint([part](std::span<const Tensor> in) { return part(in[0]); }, {&x, 1});
  };
}

}  // namespace

ReversibleStack::ReversibleStack(const ReversibleStackConfig& config, Generator& generator)
    : norm(norm_of_both(config)),
      feed_forward_rows_(config.feed_forward_rows),
      activations_(config.activations) {
  layers.reserve(config.blocks.size());
  for (const BlockConfig& block : config.blocks) {
    layers.emplace_back(block, LayerKind::encoder, generator);
  }
}

void ReversibleStack::visit(ParameterVisitor& visitor) {
  visitor("layers", layers);
  visitor("norm", norm);
}

Tensor ReversibleStack::feed(const TransformerLayer& layer, const Tensor& y) const {
  return layer.dropouts[1](layer.feed_forward(layer.norms[1](y)));  // as y
}

ReversibleLayer ReversibleStack::parts_of(const TransformerLayer& layer, const LayerInput& in,
                                          LayerWeights* weights) const {
  ReversiblePart attend = [&layer, lengths = in.lengths, causal = in.causal, mask = in.mask,
                           weights](const Tensor& x) {
    return layer.dropouts[0](
        (*layer.self_attn)({.x = layer.norms[0](x),
                            .lengths = lengths,
                            .causal = causal,
                            .mask = mask,
                            .weights = weights != nullptr ? &weights->self : nullptr}));
  };
  ReversiblePart feed_all = [this, &layer](const Tensor& y) { return feed(layer, y); };
  if (activations_ == Activations::checkpointed) {
    return reversible(with_checkpoint(std::move(attend)), with_checkpoint(std::move(feed_all)),
                      feed_forward_rows_);
  }
  return reversible(std::move(attend), std::move(feed_all), feed_forward_rows_);
}

Tensor ReversibleStack::operator()(const LayerInput& in, std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->assign(layers.size(), {});
  std::vector<ReversibleLayer> parts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    parts.push_back(parts_of(layers[i], in, weights != nullptr ? &(*weights)[i] : nullptr));
  }
  const Streams x{in.x, in.x};
  const Streams y = activations_ == Activations::reversible && weights == nullptr
                        ? run_reversible(parts, x)
                        : run_plain(parts, x);
  return norm(concat({y.x1, y.x2}, -1));  // [B, T, 2 E]
}

StackState ReversibleStack::start(const DecodeStart& from) const {
  StackState state;
  for (const TransformerLayer& layer : layers) state.layers.push_back(layer.start(from));
  return state;
}

std::int64_t ReversibleStack::cache_bytes(std::int64_t positions, CacheForm form) const {
  std::int64_t bytes = 0;
  for (const TransformerLayer& layer : layers) bytes += layer.cache_bytes(positions, 0, form);
  return bytes;
}

Tensor ReversibleStack::step(const Tensor& x, StackState& state) const {
  const NoGrad no_grad;
  HEED_CHECK(state.layers.size() == layers.size(),
             "[reversible_stack] the state has {} layers, the stack {}: give what start() returned",
             state.layers.size(), layers.size());
  Streams y{x, x};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const TransformerLayer& layer = layers[i];
    y.x1 = y.x1 + layer.self_attn->step(layer.norms[0](y.x2), *state.layers[i].self);
    y.x2 = y.x2 + feed(layer, y.x1);
  }
  return norm(concat({y.x1, y.x2}, -1));  // [B, T, 2 E]
}

}  // namespace heed
