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
  if (config.join == StreamJoin::both) norm.size *= 2;
  return norm;
}

// The part, computed again in the backward pass from its inputs.
MemoryPart with_checkpoint(MemoryPart part) {
  return [part = std::move(part)](const Tensor& x, const Tensor& memory) {
    const Tensor inputs[] = {x, memory};
    return checkpoint(
        [part](std::span<const Tensor> in) {
          return part(in[0], in.size() > 1 ? in[1] : Tensor());
        },
        std::span(inputs, memory.defined() ? 2 : 1));
  };
}

}  // namespace

ReversibleStack::ReversibleStack(const ReversibleStackConfig& config, Generator& generator)
    : norm(norm_of_both(config)),
      feed_forward_rows_(config.feed_forward_rows),
      activations_(config.activations),
      join_(config.join) {
  layers.reserve(config.blocks.size());
  for (const BlockConfig& block : config.blocks) {
    layers.emplace_back(block, config.kind, generator);
  }
}

void ReversibleStack::visit(ParameterVisitor& visitor) {
  visitor("layers", layers);
  visitor("norm", norm);
}

Tensor ReversibleStack::feed(const TransformerLayer& layer, const Tensor& y) const {
  return layer.dropouts.back()(layer.feed_forward(layer.norms.back()(y)));  // as y
}

void ReversibleStack::add_steps(const TransformerLayer& layer, const LayerInput& in,
                                std::vector<ReversibleStep>& steps) const {
  const auto add = [&](MemoryPart part, std::int64_t rows = 0) {
    const bool again = activations_ == Activations::checkpointed;
    steps.push_back(
        {.part = again ? with_checkpoint(std::move(part)) : std::move(part), .rows = rows});
  };
  add([&layer, in](const Tensor& x, const Tensor&) {
    return layer.dropouts[0](layer.attend(layer.norms[0](x), in));
  });
  if (layer.multihead_attn) {
    add([&layer, in](const Tensor& x, const Tensor& memory) {
      LayerInput of_memory = in;
      of_memory.memory = memory;
      return layer.dropouts[1](layer.attend_memory(layer.norms[1](x), of_memory));
    });
  }
  add([this, &layer](const Tensor& y, const Tensor&) { return feed(layer, y); },
      feed_forward_rows_);
}

Tensor ReversibleStack::normed(const Streams& y) const {
  if (join_ == StreamJoin::mean) return norm(0.5 * (y.x1 + y.x2));  // [B, T, E]
  return norm(concat({y.x1, y.x2}, -1));                            // [B, T, 2 E]
}

Tensor ReversibleStack::operator()(const LayerInput& in, std::vector<LayerWeights>* weights) const {
  if (weights != nullptr) weights->assign(layers.size(), {});
  // Parts get the memory as an input, and must not keep the tensors that gradients go to.
  LayerInput given = in;
  given.x = {};
  given.memory = {};
  std::vector<ReversibleStep> steps;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].check_memory(in.memory);
    given.weights = weights != nullptr ? &(*weights)[i] : nullptr;
    add_steps(layers[i], given, steps);
  }
  const Streams x{in.x, in.x};
  const Streams y = activations_ == Activations::reversible && weights == nullptr
                        ? run_reversible(steps, x, in.memory)
                        : run_plain(steps, x, in.memory);
  return normed(y);  // [B, T, F]
}

StackState ReversibleStack::start(const DecodeStart& from) const {
  StackState state;
  for (const TransformerLayer& layer : layers) state.layers.push_back(layer.start(from));
  return state;
}

std::int64_t ReversibleStack::cache_bytes(std::int64_t positions, std::int64_t memory,
                                          CacheForm form) const {
  std::int64_t bytes = 0;
  for (const TransformerLayer& layer : layers) bytes += layer.cache_bytes(positions, memory, form);
  return bytes;
}

Tensor ReversibleStack::step(const Tensor& x, StackState& state) const {
  const NoGrad no_grad;
  HEED_CHECK(state.layers.size() == layers.size(),
             "[reversible_stack] the state has {} layers, the stack {}: give what start() returned",
             state.layers.size(), layers.size());
  Streams y{x, x};
  // The stream that the next part is added to, and the one that it reads.
  Tensor *to = &y.x1, *from = &y.x2;
  const auto add = [&](const Tensor& part) {
    *to = *to + part;
    std::swap(to, from);
  };
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const TransformerLayer& layer = layers[i];
    LayerState& own = state.layers[i];
    add(layer.self_attn->step(layer.norms[0](*from), *own.self));
    if (own.cross) add(layer.multihead_attn->step(layer.norms[1](*from), *own.cross));
    add(feed(layer, *from));
  }
  return normed(y);  // [B, T, F]
}

}  // namespace heed
