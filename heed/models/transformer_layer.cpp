#include "heed/models/transformer_layer.h"

#include "heed/autograd/tape.h"
#include "heed/base/error.h"

namespace heed {

// ---- feed-forward -------------------------------------------------------------------------------

LayerFeedForward::LayerFeedForward(const BlockConfig& config, Generator& generator) {
  const double dropout = config.activation_dropout.value_or(config.dropout);
  const FeedForwardEntry& kind = kFeedForwardKinds[static_cast<std::size_t>(config.activation)];
  HEED_ASSERT(kind.value == config.activation);
  if (kind.gated) {
    gated.emplace(GatedFeedForwardConfig{.size = config.embed,
                                         .hidden = config.hidden_size(),
                                         .activation = kind.activation,
                                         .dropout = dropout,
                                         .bias = config.bias},
                  generator);
  } else {
    plain.emplace(FeedForwardConfig{.size = config.embed,
                                    .hidden = config.hidden_size(),
                                    .activation = kind.activation,
                                    .dropout = dropout,
                                    .bias = config.bias},
                  generator);
  }
}

void LayerFeedForward::visit(ParameterVisitor& visitor) {
  if (plain) plain->visit(visitor);
  if (gated) gated->visit(visitor);
}

// ---- state --------------------------------------------------------------------------------------

void LayerState::reorder(std::span<const std::int64_t> from) {
  self->reorder(from);
  if (cross) cross->reorder(from);
}

void LayerState::join(const LayerState& other) {
  self->join(*other.self);
  if (cross) cross->join(*other.cross);
}

void LayerState::observe(LayerWeights& to, ObservedWeights what) {
  self->weights = what == ObservedWeights::all ? &to.self : nullptr;
  if (cross) cross->weights = what == ObservedWeights::none ? nullptr : &to.cross;
}

// ---- layer --------------------------------------------------------------------------------------

TransformerLayer::TransformerLayer(const BlockConfig& config, LayerKind kind, Generator& generator)
    : self_attn(config.self_attention_of_layer().make(generator)),
      multihead_attn(kind == LayerKind::decoder ? config.cross_attention_of_layer().make(generator)
                                                : nullptr),
      feed_forward(config, generator),
      norm_first_(config.norm.first) {
  const int parts = kind == LayerKind::decoder ? 3 : 2;
  for (int i = 0; i < parts; ++i) {
    norms.emplace_back(config.norm_config());
    if (config.norm.both) post_norms.emplace_back(config.norm_config());
    dropouts.emplace_back(DropoutConfig{.p = config.dropout});
  }
}

void TransformerLayer::visit(ParameterVisitor& visitor) {
  visitor("self_attn", self_attn);
  visitor("multihead_attn", multihead_attn);
  feed_forward.visit(visitor);
  for (std::size_t i = 0; i < norms.size(); ++i) visitor(fmt::format("norm{}", i + 1), norms[i]);
  for (std::size_t i = 0; i < post_norms.size(); ++i) {
    visitor(fmt::format("post_norm{}", i + 1), post_norms[i]);
  }
  for (std::size_t i = 0; i < dropouts.size(); ++i) {
    visitor(fmt::format("dropout{}", i + 1), dropouts[i]);
  }
}

// The parts in order, each with its dropout, residual sum and norm. The norm of a sum is one fused
// op, so in pre-norm layers it is computed together with the residual sum before it.
template <typename AttendSelf, typename AttendMemory>
Tensor TransformerLayer::run(const Tensor& x, const AttendSelf& attend,
                             const AttendMemory& attend_memory) const {
  const std::size_t last = norms.size() - 1;
  const auto plain_part = [&](std::size_t i, const Tensor& y) {
    if (i == last) return feed_forward(y);         // [B, T, E]
    return i == 0 ? attend(y) : attend_memory(y);  // [B, T, E]
  };
  const auto part = [&](std::size_t i, const Tensor& y) {
    return post_norms.empty() ? plain_part(i, y) : post_norms[i](plain_part(i, y));  // [B, T, E]
  };
  if (norm_first_) {
    Tensor sum = x, y = norms[0](x);  // [B, T, E]
    for (std::size_t i = 0; i < last; ++i) {
      auto [normed, next] = norms[i + 1](dropouts[i](part(i, y)), sum);
      y = std::move(normed);
      sum = std::move(next);
    }
    return dropouts[last](part(last, y), sum);  // [B, T, E]
  }
  Tensor y = x;
  for (std::size_t i = 0; i <= last; ++i) y = norms[i](dropouts[i](part(i, y)), y).y;
  return y;  // [B, T, E]
}

void TransformerLayer::check_memory(const Tensor& memory) const {
  HEED_CHECK(memory.defined() == (multihead_attn != nullptr),
             "[transformer_layer] memory is {}: {}",
             memory.defined() ? to_string(memory.shape()) : "undefined",
             multihead_attn != nullptr ? "a decoder layer needs the output of the encoder"
                                       : "an encoder layer has none; use a decoder layer");
}

Tensor TransformerLayer::attend(const Tensor& x, const LayerInput& in) const {
  return (*self_attn)({.x = x,
                       .lengths = in.lengths,
                       .causal = in.causal,
                       .mask = in.mask,
                       .sequences = in.sequences,
                       .weights = in.weights != nullptr ? &in.weights->self : nullptr});
}

Tensor TransformerLayer::attend_memory(const Tensor& x, const LayerInput& in) const {
  return (*multihead_attn)({.x = x,
                            .memory = in.memory,
                            .lengths = in.memory_lengths,
                            .mask = in.memory_mask,
                            .weights = in.weights != nullptr ? &in.weights->cross : nullptr});
}

Tensor TransformerLayer::operator()(const LayerInput& in) const {
  check_memory(in.memory);
  return run(
      in.x, [&](const Tensor& x) { return attend(x, in); },
      [&](const Tensor& x) { return attend_memory(x, in); });
}

LayerState TransformerLayer::start(const DecodeStart& from) const {
  check_memory(from.memory);
  LayerState state;
  state.self = self_attn->start(
      {.batch = from.memory.defined() ? from.memory.size(0) : from.batch, .cache = from.cache});
  if (multihead_attn) state.cross = multihead_attn->start(from);
  return state;
}

std::int64_t TransformerLayer::cache_bytes(std::int64_t positions, std::int64_t memory,
                                           CacheForm form) const {
  const std::int64_t self = self_attn->cache_bytes({.positions = positions, .form = form});
  if (!multihead_attn) return self;
  return self + multihead_attn->cache_bytes({.positions = memory, .of_memory = true, .form = form});
}

Tensor TransformerLayer::step(const Tensor& x, LayerState& state) const {
  const NoGrad no_grad;
  HEED_CHECK(state.self != nullptr && (state.cross != nullptr) == (multihead_attn != nullptr),
             "[transformer_layer] the state is another layer's: give what start() returned");
  return run(
      x, [&](const Tensor& now) { return self_attn->step(now, *state.self); },
      [&](const Tensor& now) { return multihead_attn->step(now, *state.cross); });
}

}  // namespace heed
