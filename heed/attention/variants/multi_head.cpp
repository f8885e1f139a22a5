#include "heed/attention/variants/multi_head.h"

#include <optional>
#include <utility>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/decode.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/masks/window.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/stages/weight_dropout.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

void MultiHeadConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads of queries", {.min = 1});
  field("kv_heads", kv_heads, "heads of keys and values; 0: as many as heads", {.min = 0});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("bias", bias, "whether the linear maps have biases");
  field("bias_kv", bias_kv, "whether every query sees one learned key and value more");
  field("zero_attn", zero_attn, "whether every query sees one key and value of zeros more");
  field("dropout", dropout, "share of weights set to 0 in training", {.min = 0, .max = 1});
  field("position", position, "how queries and keys know where they stand");
}

void MultiHeadConfig::validate() const {
  HEED_CHECK(embed % heads == 0, "[multi_head] embed {} is not a multiple of heads {}", embed,
             heads);
  HEED_CHECK(kv_heads == 0 || heads % kv_heads == 0,
             "[multi_head] heads {} is not a multiple of kv_heads {}", heads, kv_heads);
}

namespace {

Tensor parameter(const Shape& shape, Generator& generator) {
  Tensor x = empty(shape);
  init::xavier_uniform(x, generator);
  return x.requires_grad();
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Config& config, Generator& generator)
    : out_proj({.in = config.embed, .out = config.embed, .bias = config.bias}, generator),
      position(make_position(
          config.position,
          {.embed = config.embed, .heads = config.heads, .head = config.embed / config.heads},
          generator)),
      config_(config) {
  config.validate();
  if (config_.memory_embed == 0) config_.memory_embed = config_.embed;
  const std::int64_t kv = kv_heads() * head_size();
  if (config_.memory_embed == config_.embed) {
    in_proj_weight = parameter({config_.embed + 2 * kv, config_.embed}, generator);
  } else {
    q_proj_weight = parameter({config_.embed, config_.embed}, generator);
    k_proj_weight = parameter({kv, config_.memory_embed}, generator);
    v_proj_weight = parameter({kv, config_.memory_embed}, generator);
  }
  if (config_.bias) {
    in_proj_bias = zeros({config_.embed + 2 * kv}).requires_grad();
    init::zeros(out_proj.bias);
  }
  if (!config_.bias_kv) return;
  for (Tensor* const extra : {&bias_k, &bias_v}) {
    *extra = empty({1, 1, kv});
    init::xavier_normal(*extra, generator);
    extra->requires_grad();
  }
}

void MultiHeadAttention::visit(ParameterVisitor& visitor) {
  visitor("in_proj_weight", in_proj_weight);
  visitor("in_proj_bias", in_proj_bias);
  visitor("q_proj_weight", q_proj_weight);
  visitor("k_proj_weight", k_proj_weight);
  visitor("v_proj_weight", v_proj_weight);
  visitor("bias_k", bias_k);
  visitor("bias_v", bias_v);
  visitor("out_proj", out_proj);
  visitor("position", position);
}

// ---- queries, keys and values -------------------------------------------------------------------

Tensor MultiHeadAttention::project_queries(const Tensor& x) const {
  const std::int64_t E = config_.embed;
  const Tensor weight = q_proj_weight.defined() ? q_proj_weight : slice(in_proj_weight, 0, 0, E);
  const Tensor bias = config_.bias ? slice(in_proj_bias, 0, 0, E) : Tensor();
  return split_heads(linear(x, weight, {.bias = bias}), config_.heads);  // [B, H, T, D]
}

std::pair<Tensor, Tensor> MultiHeadAttention::project_memory(const Tensor& memory) const {
  const std::int64_t E = config_.embed, kv = kv_heads() * head_size();
  Tensor weight, bias;
  if (k_proj_weight.defined()) {
    weight = concat({k_proj_weight, v_proj_weight}, 0);  // [2 G D, E']
  } else {
    weight = slice(in_proj_weight, 0, E, E + 2 * kv);  // [2 G D, E]
  }
  if (config_.bias) bias = slice(in_proj_bias, 0, E, E + 2 * kv);
  const auto [k, v] = split<2>(linear(memory, weight, {.bias = bias}), -1);  // [B, Tk, G D]
  return {split_heads(k, kv_heads()), split_heads(v, kv_heads())};
}

MultiHeadAttention::Heads MultiHeadAttention::project(const AttentionInput& in) const {
  if (in.memory.defined() || !in_proj_weight.defined()) {
    auto [k, v] = project_memory(in.source());
    return {project_queries(in.x), std::move(k), std::move(v)};
  }
  const std::int64_t E = config_.embed, kv = kv_heads() * head_size();
  const Tensor all = linear(in.x, in_proj_weight, {.bias = in_proj_bias});  // [B, T, E + 2 G D]
  const std::vector<Tensor> parts = split(all, {E, kv, kv}, -1);
  return {split_heads(parts[0], config_.heads), split_heads(parts[1], kv_heads()),
          split_heads(parts[2], kv_heads())};
}

// ---- attention ----------------------------------------------------------------------------------

AttentionSpec MultiHeadAttention::spec_of(const AttentionInput& in, Corner corner) const {
  AttentionSpec spec;
  spec.see = mask_of(in, corner);
  if (position) position->modify(spec, corner);
  if (training() && config_.dropout > 0.0) {
    spec.reweight.push_back(weight_dropout(config_.dropout, default_generator().next()));
  }
  specialise(spec, corner);
  return spec;
}

// Extra keys stand behind all others, and no mask hides them.
void MultiHeadAttention::add_extra_keys(Heads& heads, AttentionSpec& spec) const {
  const std::int64_t B = heads.k.size(0), G = kv_heads(), D = head_size();
  const auto keys = static_cast<int>(heads.k.size(2));
  const auto append = [](Tensor& to, const Tensor& extra) { to = concat({to, extra}, 2); };
  const auto learned = [&](const Tensor& x) {
    return expand(reshape(x, {1, G, 1, D}), {B, G, 1, D});  // [B, G, 1, D]
  };
  if (config_.bias_kv) {
    append(heads.k, learned(bias_k));  // [B, G, Tk + 1, D]
    append(heads.v, learned(bias_v));
  }
  if (config_.zero_attn) {
    const Tensor nothing = zeros({B, G, 1, D}, heads.k.dtype());  // [B, G, 1, D]
    append(heads.k, nothing);
    append(heads.v, nothing);
  }
  if (spec.see.everything() || heads.k.size(2) == keys) return;
  spec.see = spec.see | mask_fn([keys](int, int, int, int j) { return j >= keys; });
}

Tensor MultiHeadAttention::attend(const AttentionInput& in, std::vector<Observer> observe) const {
  check_input(name(), in, config_.embed, config_.memory_embed);
  Heads heads = project(in);
  if (position) {
    heads.q = position->turn(heads.q);
    heads.k = position->turn(heads.k);
  }
  AttentionSpec spec = spec_of(in, Corner::top_left);
  spec.observe = std::move(observe);
  add_extra_keys(heads, spec);
  return attention(heads.q, heads.k, heads.v, spec);  // [B, H, Tq, D]
}

Tensor MultiHeadAttention::operator()(const AttentionInput& in) const {
  return out_proj(join_heads(attend(in, {})));  // [B, Tq, E]
}

Tensor MultiHeadAttention::weights(const AttentionInput& in) const {
  Tensor seen;
  attend(in, {observe_weights(seen)});
  return seen;  // [B, H, Tq, Tk]
}

// ---- decoding -----------------------------------------------------------------------------------

// Of itself: the keys and values of all positions so far. Of a memory: its keys and values.
class MultiHeadAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    if (cache) cache->reorder(from);
    if (!memory.k.defined()) return;
    const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
    for (Tensor* const x : {&memory.k, &memory.v, &lengths}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  std::optional<KvCache> cache;
  Heads memory;
  Tensor lengths;
};

std::unique_ptr<DecodeState> MultiHeadAttention::start(const DecodeStart& from) const {
  HEED_CHECK(!config_.bias_kv && !config_.zero_attn,
             "[{}] keys that stand behind all others cannot be kept while positions come: decode "
             "without bias_kv and zero_attn",
             name());
  auto state = std::make_unique<State>();
  if (from.memory.defined()) {
    std::tie(state->memory.k, state->memory.v) = project_memory(from.memory);
    if (position) state->memory.k = position->turn(state->memory.k);
    state->lengths = from.lengths;
  } else {
    state->cache.emplace(
        KvCacheConfig{.batch = from.batch, .heads = kv_heads(), .features = head_size()});
  }
  return state;
}

Tensor MultiHeadAttention::step(const Tensor& x, DecodeState& decode_state) const {
  State& state = dynamic_cast<State&>(decode_state);
  check_input(name(), {.x = x}, config_.embed, config_.embed);
  if (state.memory.k.defined()) {
    const Tensor q = project_queries(x);  // [B, H, T, D]
    AttentionSpec spec = spec_of({.x = x, .lengths = state.lengths}, Corner::top_left);
    return out_proj(join_heads(attention(q, state.memory.k, state.memory.v, spec)));  // [B, T, E]
  }
  Heads heads = project({.x = x});
  const std::int64_t first = state.cache->first_position() + state.cache->length();
  if (position) {
    heads.q = position->turn(heads.q, first);
    heads.k = position->turn(heads.k, first);
  }
  state.cache->append(heads.k, heads.v);
  const AttentionSpec spec = spec_of({.x = x, .causal = true}, Corner::bottom_right);
  return out_proj(join_heads(attention_decode(heads.q, *state.cache, spec)));  // [B, T, E]
}

}  // namespace heed
