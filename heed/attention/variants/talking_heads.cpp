#include "heed/attention/variants/talking_heads.h"

#include <limits>
#include <optional>
#include <utility>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/masks.h"
#include "heed/attention/pairs.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/matmul.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

TalkingHeadsConfig with_sizes(TalkingHeadsConfig config) {
  config.validate();
  if (config.memory_embed == 0) config.memory_embed = config.embed;
  return config;
}

Tensor identity_mix(std::int64_t heads) {
  Tensor mix = zeros({heads, heads});
  for (std::int64_t h = 0; h < heads; ++h) mix.mutable_data<float>()[h * heads + h] = 1.0f;
  return mix.requires_grad();
}

// sum_h mix[g, h] x[:, h], for x [B, H, Tq, Tk].
Tensor mixed(const Tensor& mix, const Tensor& x) {
  const std::int64_t B = x.size(0), H = x.size(1);
  const Tensor flat = reshape(x, {B, H, x.size(2) * x.size(3)});    // [B, H, Tq Tk]
  return reshape(matmul(expand(mix, {B, H, H}), flat), x.shape());  // [B, H, Tq, Tk]
}

}  // namespace

void TalkingHeadsConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads of queries, keys and values", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("bias", bias, "whether the linear layers have biases");
  field("output_activation", output_activation, "activation f of the output layer, f(W h + b)");
  field("dropout", dropout, "dropout probability of the mixed weights", {.min = 0, .max = 1});
}

void TalkingHeadsConfig::validate() const {
  HEED_CHECK(embed >= 1 && heads >= 1 && embed % heads == 0,
             "[talking_heads] embed {} is not a multiple of heads {}: change one of them", embed,
             heads);
  HEED_CHECK(memory_embed >= 0, "[talking_heads] memory_embed {}: give the features of the memory",
             memory_embed);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[talking_heads] dropout {}: it must be at least 0 and below 1", dropout);
}

TalkingHeadsAttention::TalkingHeadsAttention(const Config& config, Generator& generator)
    : q_proj({.in = config.embed, .out = config.embed, .bias = config.bias}, generator),
      k_proj({.in = with_sizes(config).memory_embed, .out = config.embed, .bias = config.bias},
             generator),
      v_proj({.in = with_sizes(config).memory_embed, .out = config.embed, .bias = config.bias},
             generator),
      out_proj({.in = config.embed,
                .out = config.embed,
                .bias = config.bias,
                .activation = config.output_activation},
               generator),
      mix_scores(identity_mix(config.heads)),
      mix_weights(identity_mix(config.heads)),
      dropout({.p = config.dropout}),
      config_(with_sizes(config)) {}

void TalkingHeadsAttention::visit(ParameterVisitor& visitor) {
  visitor("q_proj", q_proj);
  visitor("k_proj", k_proj);
  visitor("v_proj", v_proj);
  visitor("mix_scores", mix_scores);
  visitor("mix_weights", mix_weights);
  visitor("dropout", dropout);
  visitor("out_proj", out_proj);
}

// Hidden pairs have a score of 0 while heads are mixed, because 0 times -inf would be NaN. Values
// are read by the tile kernel, with the weights as scores, so that hidden ones may be NaN.
Tensor TalkingHeadsAttention::read(const Heads& heads, const Mask& mask, Tensor* weights) const {
  const Shape pairs{heads.q.size(0), config_.heads, heads.q.size(2), heads.k.size(2)};
  const Tensor visible = dense_mask(mask, pairs);  // [B, H, Tq, Tk], or undefined
  Tensor scores = pair_scores(heads.q, heads.k, scaled_dot_score(), visible);
  if (visible.defined()) scores = where(visible, scores, 0.0);
  scores = mixed(mix_scores, scores);
  if (visible.defined()) {
    scores = where(visible, scores, -std::numeric_limits<double>::infinity());
  }
  const Tensor mix = dropout(mixed(mix_weights, softmax(scores)));  // [B, H, Tq, Tk]
  if (weights != nullptr) *weights = mix.detach();
  AttentionSpec spec{.modifiers = {dense_bias(mix)}, .normaliser = no_normaliser()};
  if (visible.defined()) spec.mask = boolean_mask(visible);
  const auto nothing = [](const Tensor& x) {
    return zeros({x.size(0), x.size(1), x.size(2), 1}, x.dtype());
  };
  return out_proj(join_heads(attention(nothing(heads.q), nothing(heads.k), heads.v, spec)));
}

Tensor TalkingHeadsAttention::operator()(const AttentionInput& in) const {
  check_input("talking_heads", in, config_.embed, config_.memory_embed);
  const std::int64_t H = config_.heads;
  return read({.q = split_heads(q_proj(in.x), H),
               .k = split_heads(k_proj(in.source()), H),
               .v = split_heads(v_proj(in.source()), H)},
              mask_of(in), in.weights);  // [B, Tq, E]
}

// ---- decoding -----------------------------------------------------------------------------------

// Without a memory: the keys and values of the positions so far. With a memory: its keys and
// values.
class TalkingHeadsAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    if (cache) return cache->reorder(from);
    const Tensor ids = from_values(from, {std::ssize(from)});
    for (Tensor* const x : {&k, &v, &lengths}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  std::optional<KvCache> cache;
  Tensor k, v;     // [B, H, Tk, D], of a memory
  Tensor lengths;  // i64 [B], or undefined
};

std::unique_ptr<DecodeState> TalkingHeadsAttention::start(const DecodeStart& from) const {
  auto state = std::make_unique<State>();
  if (from.memory.defined()) {
    const Tensor nothing = empty({from.memory.size(0), 0, config_.embed});
    check_input("talking_heads", {.x = nothing, .memory = from.memory, .lengths = from.lengths},
                config_.embed, config_.memory_embed);
    state->k = split_heads(k_proj(from.memory), config_.heads);
    state->v = split_heads(v_proj(from.memory), config_.heads);
    state->lengths = from.lengths;
    return state;
  }
  state->cache.emplace(KvCacheConfig{.batch = from.batch,
                                     .heads = config_.heads,
                                     .features = config_.embed / config_.heads,
                                     .dtype = cache_dtype(out_proj.weight.dtype())});
  return state;
}

Tensor TalkingHeadsAttention::step(const Tensor& x, DecodeState& decode_state) const {
  auto* const state = dynamic_cast<State*>(&decode_state);
  HEED_CHECK(state != nullptr,
             "[talking_heads] the state is another layer's: give what start() returned");
  check_input("talking_heads", {.x = x}, config_.embed, config_.embed);
  Heads heads{.q = split_heads(q_proj(x), config_.heads), .k = state->k, .v = state->v};
  if (!state->cache) {
    return read(heads, mask_of({.x = x, .lengths = state->lengths}), state->weights);
  }
  const NoGrad no_grad;
  const std::int64_t first = state->cache->length();
  state->cache->append(split_heads(k_proj(x), config_.heads),
                       split_heads(v_proj(x), config_.heads));
  heads.k = state->cache->keys();
  heads.v = state->cache->values();
  return read(heads, causal(Corner::offset(first)), state->weights);  // [B, T, E]
}

std::int64_t TalkingHeadsAttention::cache_bytes(const CacheSize& size) const {
  return 2 * size.positions * config_.embed *
         static_cast<std::int64_t>(size_of(cache_dtype(out_proj.weight.dtype())));
}

}  // namespace heed
