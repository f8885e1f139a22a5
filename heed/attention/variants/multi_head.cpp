#include "heed/attention/variants/multi_head.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/masks.h"
#include "heed/attention/paged_cache.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

void MultiHeadConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads of queries", {.min = 1});
  field("kv_heads", kv_heads, "heads of keys and values; 0: as many as heads", {.min = 0});
  field("head_size", head_size, "features of a head; 0: embed / heads", {.min = 0});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("joint", joint,
        "whether queries, keys and values come from one matrix; three if the memory has another "
        "size");
  field("bias", bias, "whether the linear layers have biases");
  field("qkv_bias", qkv_bias, "whether queries, keys and values have biases; none: as bias");
  field("qk_norm", qk_norm, "whether each head of queries and keys has an RMS norm");
  field("qk_norm_eps", qk_norm_eps, "epsilon of these norms", {.min = 0});
  field("scale", scale, "factor of the scores; 0: 1 / sqrt(head_size)", {.min = 0});
  field("soft_cap", soft_cap, "limit c of the scores, c tanh(score / c); 0: none", {.min = 0});
  field("bias_kv", bias_kv, "whether there is one more learned key and value");
  field("zero_attn", zero_attn, "whether there is one more key and value of zeros");
  field("dropout", dropout, "dropout probability of attention weights", {.min = 0, .max = 1});
  field("position", position, "position code of queries and keys");
}

void MultiHeadConfig::validate() const {
  HEED_CHECK(embed >= 1 && heads >= 1 && head_size >= 0 && (head_size > 0 || embed % heads == 0),
             "[multi_head] embed {} is not a multiple of heads {}: change one of them, or give "
             "head_size",
             embed, heads);
  HEED_CHECK(kv_heads >= 0 && (kv_heads == 0 || heads % kv_heads == 0),
             "[multi_head] heads {} is not a multiple of kv_heads {}", heads, kv_heads);
  HEED_CHECK(memory_embed >= 0, "[multi_head] memory_embed {}: give the features of the memory",
             memory_embed);
  HEED_CHECK(qk_norm_eps >= 0.0 && std::isfinite(qk_norm_eps),
             "[multi_head] qk_norm_eps {}: it must be at least 0 and finite", qk_norm_eps);
  HEED_CHECK(scale >= 0.0 && std::isfinite(scale),
             "[multi_head] scale {}: give a positive factor, or 0 for 1 / sqrt(head_size)", scale);
  HEED_CHECK(soft_cap >= 0.0 && std::isfinite(soft_cap),
             "[multi_head] soft_cap {}: give a positive limit, or 0 for none", soft_cap);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[multi_head] dropout {}: it must be at least 0 and below 1", dropout);
}

namespace {

// A cache with a window has room for so many queries at once; more are processed in parts.
constexpr std::int64_t kMostAtOnce = 64;

// The config with the sizes that 0 stands for.
MultiHeadConfig resolved(MultiHeadConfig config) {
  config.validate();
  if (config.memory_embed == 0) config.memory_embed = config.embed;
  if (config.head_size == 0) config.head_size = config.embed / config.heads;
  return config;
}

Linear projection(std::int64_t out, std::int64_t in, bool bias, Generator& generator) {
  Tensor weight = empty({out, in});  // [out, in]
  init::xavier_uniform(weight, generator);
  return Linear(Weight(weight.requires_grad()), bias ? zeros({out}).requires_grad() : Tensor());
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const Config& config, Generator& generator)
    : out_proj({.in = config.heads * resolved(config).head_size,
                .out = config.embed,
                .bias = config.bias},
               generator),
      position(make_position(
          config.position,
          {.embed = config.embed, .heads = config.heads, .head = resolved(config).head_size},
          generator)),
      config_(resolved(config)) {
  make_projections(generator);
  if (config_.bias) init::zeros(out_proj.bias);
  if (config_.qk_norm) {
    const RmsNormConfig norm{.size = config_.head_size, .eps = config_.qk_norm_eps};
    q_norm.emplace(norm);
    k_norm.emplace(norm);
  }
  if (!config_.bias_kv) return;
  for (Tensor* const extra : {&bias_k, &bias_v}) {
    *extra = empty({1, 1, kv_size()});
    init::xavier_normal(*extra, generator);
    extra->requires_grad();
  }
}

void MultiHeadAttention::make_projections(Generator& generator) {
  const std::int64_t E = config_.embed, memory = config_.memory_embed;
  const bool bias = config_.qkv_bias.value_or(config_.bias);
  if (config_.joint && memory == E) {
    in_proj = projection(query_size() + 2 * kv_size(), E, bias, generator);
  } else {
    q_proj = projection(query_size(), E, bias, generator);
    k_proj = projection(kv_size(), memory, bias, generator);
    v_proj = projection(kv_size(), memory, bias, generator);
  }
}

void MultiHeadAttention::visit(ParameterVisitor& visitor) {
  if (in_proj) visitor.joined("in_proj", *in_proj);
  if (q_proj) {
    visitor.joined("q_proj", *q_proj);
    visitor.joined("k_proj", *k_proj);
    visitor.joined("v_proj", *v_proj);
  }
  visitor("q_norm", q_norm);
  visitor("k_norm", k_norm);
  visitor("bias_k", bias_k);
  visitor("bias_v", bias_v);
  visitor("out_proj", out_proj);
  visitor("position", position);
}

// ---- queries, keys and values -------------------------------------------------------------------

namespace {

// [B, T, heads D] -> [B, heads, T, D], normalised while the features of a head are still adjacent.
Tensor split_heads(const Tensor& x, std::int64_t heads, const std::optional<RmsNorm>& norm) {
  if (!norm) return split_heads(x, heads);
  const Shape split{x.size(0), x.size(1), heads, x.size(2) / heads};
  return transpose((*norm)(reshape(x, split)), 1, 2);
}

}  // namespace

Tensor MultiHeadAttention::queries(const Tensor& x) const {
  const Tensor q = in_proj ? in_proj->rows(x, 0, query_size()) : (*q_proj)(x);
  return split_heads(q, config_.heads, q_norm);  // [B, H, Tq, D]
}

Tensor MultiHeadAttention::keys(const Tensor& memory) const {
  const std::int64_t begin = query_size();
  const Tensor k = in_proj ? in_proj->rows(memory, begin, begin + kv_size()) : (*k_proj)(memory);
  return split_heads(k, kv_heads(), k_norm);  // [B, G, Tk, D]
}

Tensor MultiHeadAttention::values(const Tensor& memory) const {
  const std::int64_t begin = query_size() + kv_size();
  const Tensor v = in_proj ? in_proj->rows(memory, begin, begin + kv_size()) : (*v_proj)(memory);
  return split_heads(v, kv_heads());  // [B, G, Tk, D]
}

MultiHeadAttention::Heads MultiHeadAttention::project(const AttentionInput& in) const {
  if (in.memory.defined() || !in_proj) {
    return {queries(in.x), keys(in.source()), values(in.source())};
  }
  const Tensor all = (*in_proj)(in.x);  // [B, T, (H + 2 G) D]
  const std::vector<Tensor> parts = split(all, {query_size(), kv_size(), kv_size()}, -1);
  return {split_heads(parts[0], config_.heads, q_norm), split_heads(parts[1], kv_heads(), k_norm),
          split_heads(parts[2], kv_heads())};
}

// ---- attention ----------------------------------------------------------------------------------

AttentionSpec MultiHeadAttention::spec_of(const AttentionInput& in, Corner corner) const {
  AttentionSpec spec;
  if (config_.scale > 0.0) spec.score = scaled_dot_score(config_.scale);
  spec.mask = mask_of(in, corner);
  if (position) position->modify(spec, corner);
  HEED_CHECK(
      !has_extra_keys() || (spec.modifiers.empty() && spec.reweights.empty()),
      "[{}] the keys of bias_kv and zero_attn have no position, and position {} needs one: leave "
      "one of them out",
      name(), config_.position.name);
  if (training() && config_.dropout > 0.0) {
    spec.reweights.push_back(weight_dropout(config_.dropout, default_generator().next()));
  }
  specialise(spec, corner);
  if (config_.soft_cap > 0.0) spec.modifiers.push_back(soft_cap(config_.soft_cap));
  if (in.weights != nullptr) spec.observers.push_back(observe_weights(*in.weights));
  return spec;
}

// Extra keys come after all others, and no mask hides them.
void MultiHeadAttention::add_extra_keys(Heads& heads, AttentionSpec& spec) const {
  if (!has_extra_keys()) return;
  const std::int64_t B = heads.k.size(0), G = kv_heads(), D = config_.head_size;
  const std::int64_t keys = heads.k.size(2);
  std::vector<Tensor> all_k, all_v;
  all_k.push_back(heads.k);
  all_v.push_back(heads.v);
  if (config_.bias_kv) {
    const auto learned = [&](const Tensor& x) {
      return expand(reshape(x, {1, G, 1, D}), {B, G, 1, D});  // [B, G, 1, D]
    };
    all_k.push_back(learned(bias_k));
    all_v.push_back(learned(bias_v));
  }
  if (config_.zero_attn) {
    all_k.push_back(zeros({B, G, 1, D}, heads.k.dtype()));  // [B, G, 1, D]
    all_v.push_back(all_k.back());
  }
  heads.k = concat(all_k, 2);  // [B, G, Tk + 1 or 2, D]
  heads.v = concat(all_v, 2);
  spec.mask = spec.mask | key_range(keys, heads.k.size(2));
}

Tensor MultiHeadAttention::attend(const AttentionInput& in) const {
  check_input(name(), in, config_.embed, config_.memory_embed);
  Heads heads = project(in);
  if (position) {
    heads.q = position->rotate(heads.q);
    heads.k = position->rotate(heads.k);
  }
  AttentionSpec spec = spec_of(in, Corner::top_left);
  add_extra_keys(heads, spec);
  return attention(heads.q, heads.k, heads.v, spec);  // [B, H, Tq, D]
}

// Rotations would need the position of each row in its sequence.
bool MultiHeadAttention::takes_sequences() const {
  const bool rotates = position && find_position(config_.position.name).way == PositionWay::heads;
  return !training() && !rotates && !has_extra_keys();
}

Tensor MultiHeadAttention::attend_sequences(const AttentionInput& in) const {
  HEED_ASSERT(takes_sequences() && !in.memory.defined() && !in.lengths.defined());
  const Heads heads = project(in);
  const auto rows_of = [](const Tensor& x) { return transpose(squeeze(x, 0), 0, 1); };
  const Tensor y = attention_packed(rows_of(heads.q), rows_of(heads.k), rows_of(heads.v),
                                    *in.sequences, spec_of(in, Corner::top_left));  // [N, H, D]
  return reshape(y, {1, y.size(0), query_size()});                                  // [1, N, H D]
}

Tensor MultiHeadAttention::operator()(const AttentionInput& in) const {
  if (in.sequences != nullptr) return out_proj(attend_sequences(in));  // [1, N, E]
  return out_proj(join_heads(attend(in)));                             // [B, Tq, E]
}

// ---- decoding -----------------------------------------------------------------------------------

namespace {

// The weights of steps, [B, H, 1, Tk] each, as one tensor; earlier ones have fewer keys.
Tensor join_weights(const std::vector<Tensor>& steps) {
  if (steps.size() == 1) return steps[0];
  const Tensor& last = steps.back();
  Tensor all = zeros({last.size(0), last.size(1), std::ssize(steps), last.size(3)});
  for (std::int64_t t = 0; const Tensor& step : steps) {
    Tensor to = slice(slice(all, 2, t, t + 1), 3, 0, step.size(3));
    copy_into(to, step);
    ++t;
  }
  return all;  // [B, H, T, Tk]
}

}  // namespace

// Without a memory: the keys and values of the positions so far. With a memory: its keys and
// values.
class MultiHeadAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    if (paged) return paged->reorder(from);
    if (cache) return cache->reorder(from);
    const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
    for (Tensor* const x : {&memory.k, &memory.v, &lengths}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  std::int64_t next = 0;            // the first position of the next step
  bool of_memory = false;           // whether the keys are those of a memory
  std::int64_t memory_keys = 0;     // how many, padding included
  std::optional<PagedCache> paged;  // keys and values, if attention needs nothing but them
  std::optional<KvCache> cache;     // else those of the steps
  Heads memory;                     // or those of the memory
  Tensor lengths;
};

// Masks, biases and extra keys are not for pages.
bool MultiHeadAttention::can_page() const {
  if (training() || has_extra_keys() || out_proj.weight.dtype() != DType::f32) return false;
  AttentionSpec spec;
  if (position) position->modify(spec, Corner::top_left);
  specialise(spec, Corner::top_left);
  return spec.modifiers.empty() && spec.reweights.empty() && spec.mask.everything() &&
         spec.normaliser.name() == softmax_weights().name();
}

std::unique_ptr<DecodeState> MultiHeadAttention::start(const DecodeStart& from) const {
  const NoGrad no_grad;
  auto state = std::make_unique<State>();
  state->of_memory = from.memory.defined();
  const std::int64_t rows = state->of_memory ? from.memory.size(0) : from.batch;
  if (can_page()) {
    state->paged.emplace(
        PagedCacheConfig{.rows = rows, .heads = kv_heads(), .features = config_.head_size});
    if (!state->of_memory) return state;
  }
  if (!from.memory.defined()) {
    KvCacheConfig config{.batch = from.batch,
                         .heads = kv_heads(),
                         .features = config_.head_size,
                         .dtype = cache_dtype(out_proj.weight.dtype())};
    if (const auto back = reach()) config.window = *back + kMostAtOnce;
    state->cache.emplace(config);
    return state;
  }
  const Tensor nothing = empty({from.memory.size(0), 0, config_.embed});  // [B, 0, E]
  check_input(name(), {.x = nothing, .memory = from.memory, .lengths = from.lengths}, config_.embed,
              config_.memory_embed);
  Heads memory;
  memory.k = keys(from.memory);    // [B, G, Tk, D]
  memory.v = values(from.memory);  // [B, G, Tk, D]
  if (position) memory.k = position->rotate(memory.k);
  if (state->paged) {
    state->paged->append(memory.k, memory.v, from.lengths);
    state->memory_keys = from.memory.size(1);
    return state;
  }
  state->memory = std::move(memory);
  state->lengths = from.lengths;
  return state;
}

Tensor MultiHeadAttention::step(const Tensor& x, DecodeState& decode_state) const {
  const NoGrad no_grad;
  auto* const state = dynamic_cast<State*>(&decode_state);
  HEED_CHECK(state != nullptr, "[{}] the state is another layer's: give what start() returned",
             name());
  check_input(name(), {.x = x}, config_.embed, config_.embed);
  const std::int64_t T = x.size(1);
  if (state->paged) return step_paged(x, *state);
  if (!state->cache || !state->cache->window() || T <= kMostAtOnce) return step_few(x, *state);
  std::vector<Tensor> parts;
  for (std::int64_t t = 0; t < T; t += kMostAtOnce) {
    parts.push_back(step_few(slice(x, 1, t, std::min(T, t + kMostAtOnce)), *state));
  }
  return concat(parts, 1);  // [B, T, E]
}

Tensor MultiHeadAttention::step_paged(const Tensor& x, State& state) const {
  const std::int64_t T = x.size(1);
  const std::int64_t first = std::exchange(state.next, state.next + T);
  PagedCache& cache = *state.paged;
  Heads heads;
  if (state.of_memory) {
    heads.q = queries(x);  // [B, H, T, D]
  } else {
    heads = project({.x = x});
    if (position) heads.k = position->rotate(heads.k, first);
  }
  if (position) heads.q = position->rotate(heads.q, first);
  if (!state.of_memory && first == 0 && T > 1) {  // a prompt: the positions attend to each other
    cache.append(heads.k, heads.v);
    const AttentionSpec spec =
        spec_of({.x = x, .causal = true, .weights = state.weights}, Corner::top_left);
    return out_proj(join_heads(attention(heads.q, heads.k, heads.v, spec)));  // [B, T, E]
  }
  std::vector<Tensor> outputs, weights;
  for (std::int64_t t = 0; t < T; ++t) {
    if (!state.of_memory) cache.append(slice(heads.k, 2, t, t + 1), slice(heads.v, 2, t, t + 1));
    Tensor seen;
    outputs.push_back(cache.attend(slice(heads.q, 2, t, t + 1),
                                   {.scale = config_.scale,
                                    .soft_cap = config_.soft_cap,
                                    .weights = state.weights != nullptr ? &seen : nullptr,
                                    .keys = state.memory_keys}));
    weights.push_back(seen);
  }
  if (state.weights != nullptr) *state.weights = join_weights(weights);
  return out_proj(T == 1 ? outputs[0] : concat(outputs, 1));  // [B, T, E]
}

Tensor MultiHeadAttention::step_few(const Tensor& x, State& state) const {
  const std::int64_t first = std::exchange(state.next, state.next + x.size(1));
  Heads heads = state.memory;
  AttentionInput in{.x = x, .lengths = state.lengths, .weights = state.weights};
  std::int64_t first_key = 0;
  if (state.cache) {
    heads = project(in);
    if (position) heads.k = position->rotate(heads.k, first);
    state.cache->append(heads.k, heads.v);
    heads.k = state.cache->keys();    // [B, G, Tk, D]
    heads.v = state.cache->values();  // [B, G, Tk, D]
    first_key = state.cache->first_position();
    in.causal = true;
  } else {
    heads.q = queries(x);  // [B, H, T, D]
  }
  if (position) heads.q = position->rotate(heads.q, first);
  AttentionSpec spec = spec_of(in, Corner::offset(first - first_key));
  add_extra_keys(heads, spec);
  return out_proj(join_heads(attention(heads.q, heads.k, heads.v, spec)));  // [B, T, E]
}

}  // namespace heed
