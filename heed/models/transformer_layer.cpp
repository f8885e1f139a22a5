#include "heed/models/transformer_layer.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"

namespace heed {
namespace {

// An attention layer of the config's sizes; the choice's own options have the last word.
std::unique_ptr<AttentionLayer> attention_of(const AttentionChoice& choice,
                                             const TransformerLayerConfig& config,
                                             Generator& generator) {
  const double attention_dropout = config.attention_dropout.value_or(config.dropout);
  const std::pair<std::string, std::string> sizes[] = {
      {"embed", fmt::to_string(config.embed)},
      {"heads", fmt::to_string(config.heads)},
      {"dropout", fmt::to_string(attention_dropout)},
      {"bias", fmt::to_string(config.bias)}};
  const std::vector<io::FieldInfo> known = find_mechanism(choice.name).options();
  std::vector<std::string> options;
  for (const auto& [key, value] : sizes) {
    const auto is_it = [&key = key](const io::FieldInfo& field) { return field.path == key; };
    if (std::ranges::any_of(known, is_it)) options.push_back(key + "=" + value);
  }
  options.insert(options.end(), choice.options.begin(), choice.options.end());
  return make_attention(choice.name, options, generator);
}

bool is_gated(FeedForwardKind kind) {
  return kind == FeedForwardKind::swiglu || kind == FeedForwardKind::geglu;
}

Activation activation_of(FeedForwardKind kind) {
  switch (kind) {
    case FeedForwardKind::relu:
      return Activation::relu;
    case FeedForwardKind::geglu:
    case FeedForwardKind::gelu:
      return Activation::gelu;
    case FeedForwardKind::gelu_tanh:
      return Activation::gelu_tanh;
    case FeedForwardKind::swiglu:
    case FeedForwardKind::silu:
      return Activation::silu;
  }
  return Activation::none;
}

LayerNorm norm_of(const TransformerLayerConfig& config) {
  return LayerNorm({.size = config.embed, .eps = config.eps, .bias = config.bias});
}

}  // namespace

void TransformerLayerConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads of attention", {.min = 1});
  field("hidden", hidden, "features inside the feed-forward network", {.min = 1});
  field("activation", activation, "inside the feed-forward network");
  field("norm_first", norm_first, "norms in front of the parts, not behind their sums");
  field("dropout", dropout, "share of what is added to x set to 0 in training",
        {.min = 0, .max = 1});
  field("attention_dropout", attention_dropout, "of attention's weights; none: as dropout",
        {.min = 0, .max = 1});
  field("activation_dropout", activation_dropout,
        "inside the feed-forward network; none: as dropout", {.min = 0, .max = 1});
  field("eps", eps, "added to the variance in norms", {.min = 0});
  field("bias", bias, "whether linear maps and norms have biases");
  field("self_attention", self_attention, "how positions attend to each other");
  field("cross_attention", cross_attention, "how a decoder's attend to the encoder's");
}

void TransformerLayerConfig::validate() const {
  for (const double share :
       {dropout, attention_dropout.value_or(0.0), activation_dropout.value_or(0.0)}) {
    HEED_CHECK(share >= 0.0 && share < 1.0,
               "[transformer_layer] dropout {}: it must be at least 0 and below 1", share);
  }
  Generator unused(0);
  attention_of(self_attention, *this, unused);
  attention_of(cross_attention, *this, unused);
}

// ---- feed-forward -------------------------------------------------------------------------------

LayerFeedForward::LayerFeedForward(const TransformerLayerConfig& config, Generator& generator) {
  const double dropout = config.activation_dropout.value_or(config.dropout);
  const Activation activation = activation_of(config.activation);
  if (is_gated(config.activation)) {
    gated.emplace(GatedFeedForwardConfig{.size = config.embed,
                                         .hidden = config.hidden,
                                         .activation = activation,
                                         .dropout = dropout,
                                         .bias = config.bias},
                  generator);
    return;
  }
  plain.emplace(FeedForwardConfig{.size = config.embed,
                                  .hidden = config.hidden,
                                  .activation = activation,
                                  .dropout = dropout,
                                  .bias = config.bias},
                generator);
}

void LayerFeedForward::visit(ParameterVisitor& visitor) {
  if (plain) plain->visit(visitor);
  if (gated) gated->visit(visitor);
}

// ---- encoder ------------------------------------------------------------------------------------

TransformerEncoderLayer::TransformerEncoderLayer(const Config& config, Generator& generator)
    : self_attn(attention_of(config.self_attention, config, generator)),
      feed_forward(config, generator),
      norm1(norm_of(config)),
      norm2(norm_of(config)),
      dropout1({.p = config.dropout}),
      dropout2({.p = config.dropout}),
      norm_first_(config.norm_first) {}

void TransformerEncoderLayer::visit(ParameterVisitor& visitor) {
  visitor("self_attn", self_attn);
  feed_forward.visit(visitor);
  visitor("norm1", norm1);
  visitor("norm2", norm2);
  visitor("dropout1", dropout1);
  visitor("dropout2", dropout2);
}

template <typename Attend>
Tensor TransformerEncoderLayer::run(const Tensor& x, const Attend& attend) const {
  if (norm_first_) {
    const auto [y, sum] = norm2(dropout1(attend(norm1(x))), x);  // [B, T, E]
    return dropout2(feed_forward(y), sum);                       // [B, T, E]
  }
  const Tensor y = norm1(dropout1(attend(x)), x).y;  // [B, T, E]
  return norm2(dropout2(feed_forward(y)), y).y;      // [B, T, E]
}

Tensor TransformerEncoderLayer::operator()(const AttentionInput& in, LayerWeights* weights) const {
  HEED_CHECK(!in.memory.defined(),
             "[encoder_layer] memory is {}: an encoder layer asks x itself; use a decoder layer",
             to_string(in.memory.shape()));
  return run(in.x, [&](const Tensor& x) {
    AttentionInput asked = in;
    asked.x = x;
    if (weights != nullptr) weights->self = self_attn->weights(asked);
    return (*self_attn)(asked);
  });
}

std::unique_ptr<DecodeState> TransformerEncoderLayer::start(std::int64_t batch) const {
  return self_attn->start({.batch = batch});
}

Tensor TransformerEncoderLayer::step(const Tensor& x, DecodeState& state) const {
  const NoGrad no_grad;
  return run(x, [&](const Tensor& now) { return self_attn->step(now, state); });
}

// ---- decoder ------------------------------------------------------------------------------------

TransformerDecoderLayer::TransformerDecoderLayer(const Config& config, Generator& generator)
    : self_attn(attention_of(config.self_attention, config, generator)),
      multihead_attn(attention_of(config.cross_attention, config, generator)),
      feed_forward(config, generator),
      norm1(norm_of(config)),
      norm2(norm_of(config)),
      norm3(norm_of(config)),
      dropout1({.p = config.dropout}),
      dropout2({.p = config.dropout}),
      dropout3({.p = config.dropout}),
      norm_first_(config.norm_first) {}

void TransformerDecoderLayer::visit(ParameterVisitor& visitor) {
  visitor("self_attn", self_attn);
  visitor("multihead_attn", multihead_attn);
  feed_forward.visit(visitor);
  visitor("norm1", norm1);
  visitor("norm2", norm2);
  visitor("norm3", norm3);
  visitor("dropout1", dropout1);
  visitor("dropout2", dropout2);
  visitor("dropout3", dropout3);
}

template <typename AttendSelf, typename AttendMemory>
Tensor TransformerDecoderLayer::run(const Tensor& x, const AttendSelf& attend,
                                    const AttendMemory& attend_memory) const {
  if (norm_first_) {
    const auto [y, first] = norm2(dropout1(attend(norm1(x))), x);       // [B, T, E]
    const auto [z, second] = norm3(dropout2(attend_memory(y)), first);  // [B, T, E]
    return dropout3(feed_forward(z), second);                           // [B, T, E]
  }
  const Tensor y = norm1(dropout1(attend(x)), x).y;         // [B, T, E]
  const Tensor z = norm2(dropout2(attend_memory(y)), y).y;  // [B, T, E]
  return norm3(dropout3(feed_forward(z)), z).y;             // [B, T, E]
}

Tensor TransformerDecoderLayer::operator()(const DecoderLayerInput& in,
                                           LayerWeights* weights) const {
  HEED_CHECK(in.memory.defined(),
             "[decoder_layer] memory is undefined: give what the encoder made");
  return run(
      in.x,
      [&](const Tensor& x) {
        const AttentionInput asked{
            .x = x, .lengths = in.lengths, .causal = in.causal, .mask = in.mask};
        if (weights != nullptr) weights->self = self_attn->weights(asked);
        return (*self_attn)(asked);
      },
      [&](const Tensor& x) {
        const AttentionInput asked{
            .x = x, .memory = in.memory, .lengths = in.memory_lengths, .mask = in.memory_mask};
        if (weights != nullptr) weights->cross = multihead_attn->weights(asked);
        return (*multihead_attn)(asked);
      });
}

class TransformerDecoderLayer::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    self->reorder(from);
    memory->reorder(from);
  }

  std::unique_ptr<DecodeState> self, memory;
};

std::unique_ptr<DecodeState> TransformerDecoderLayer::start(const DecodeStart& from) const {
  HEED_CHECK(from.memory.defined(),
             "[decoder_layer] memory is undefined: give what the encoder made");
  auto state = std::make_unique<State>();
  state->self = self_attn->start({.batch = from.memory.size(0)});
  state->memory = multihead_attn->start(from);
  return state;
}

Tensor TransformerDecoderLayer::step(const Tensor& x, DecodeState& decode_state) const {
  const NoGrad no_grad;
  auto* const state = dynamic_cast<State*>(&decode_state);
  HEED_CHECK(state != nullptr,
             "[decoder_layer] the state is another layer's: give what start() returned");
  return run(
      x, [&](const Tensor& now) { return self_attn->step(now, *state->self); },
      [&](const Tensor& now) { return multihead_attn->step(now, *state->memory); });
}

}  // namespace heed
