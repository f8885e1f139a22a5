#include "heed/attention/variants/multi_head.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/masks.h"
#include "heed/attention/paged_cache.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/distance.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/tracked_weights.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

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
                .bias = config.bias,
                .activation = config.output_activation},
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
  return split_heads(activated(q), config_.heads, q_norm);  // [B, H, Tq, D]
}

Tensor MultiHeadAttention::keys(const Tensor& memory) const {
  const std::int64_t begin = query_size();
  const Tensor k = in_proj ? in_proj->rows(memory, begin, begin + kv_size()) : (*k_proj)(memory);
  return split_heads(activated(k), kv_heads(), k_norm);  // [B, G, Tk, D]
}

Tensor MultiHeadAttention::values(const Tensor& memory) const {
  const std::int64_t begin = query_size() + kv_size();
  const Tensor v = in_proj ? in_proj->rows(memory, begin, begin + kv_size()) : (*v_proj)(memory);
  return split_heads(activated(v), kv_heads());  // [B, G, Tk, D]
}

MultiHeadAttention::Heads MultiHeadAttention::project(const AttentionInput& in) const {
  if (in.memory.defined() || !in_proj) {
    return {queries(in.x), keys(in.source()), values(in.source())};
  }
  const Tensor all = activated((*in_proj)(in.x));  // [B, T, (H + 2 G) D]
  if (!grad_enabled()) {  // slices: split() would ask for memory of the system at each step
    const std::int64_t q = query_size(), k = q + kv_size(), v = k + kv_size();
    return {split_heads(slice(all, -1, 0, q), config_.heads, q_norm),
            split_heads(slice(all, -1, q, k), kv_heads(), k_norm),
            split_heads(slice(all, -1, k, v), kv_heads())};
  }
  const std::vector<Tensor> parts = split(all, {query_size(), kv_size(), kv_size()}, -1);
  return {split_heads(parts[0], config_.heads, q_norm), split_heads(parts[1], kv_heads(), k_norm),
          split_heads(parts[2], kv_heads())};
}

// ---- attention ----------------------------------------------------------------------------------

AttentionSpec MultiHeadAttention::spec_of(const AttentionInput& in, Corner corner,
                                          bool drops) const {
  AttentionSpec spec;
  if (config_.scale > 0.0) spec.score = scaled_dot_score(config_.scale);
  spec.mask = mask_of(in, corner);
  spec.normaliser = normaliser_of(config_.normaliser);
  if (position) position->modify(spec, corner);
  HEED_CHECK(
      !has_extra_keys() || (spec.modifiers.empty() && spec.reweights.empty()),
      "[{}] the keys of bias_kv and zero_attn have no position, and position {} needs one: leave "
      "one of them out",
      name(), config_.position.name);
  if (drops && training() && config_.dropout > 0.0) {
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
  if (TrackedWeights* const tracked = TrackedWeights::of(*this)) {
    AttentionInput plain = in;
    plain.weights = nullptr;
    tracked->weights = attention_weights(heads.q, heads.k, spec_of(plain, Corner::top_left, false));
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

constexpr std::int64_t kLeastBiases = 64;

// The stage of a bias by distance, or null if it is another one.
const DistanceStage* distance_stage(const Modifier& modifier) {
  return dynamic_cast<const DistanceStage*>(modifier.impl().get());
}

}  // namespace

// Without a memory: the keys and values of the positions so far. With a memory: its keys and
// values.
class MultiHeadAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    reorder_memory(from);  // checks the numbers
    std::vector<std::int64_t> firsts;
    for (const std::int64_t row : from) firsts.push_back(next[static_cast<std::size_t>(row)]);
    next = std::move(firsts);
  }

  /// The columns of observed weights begin at the first position that a window keeps, so they need
  /// sequences of one length.
  bool can_join() const override { return paged && !(has_window && weights != nullptr); }
  void join(const DecodeState& decode_state) override {
    const auto* const other = dynamic_cast<const State*>(&decode_state);
    HEED_CHECK(other != nullptr && paged && other->paged && other->of_memory == of_memory,
               "[multi_head] sequences join others of another layer, or of one without pages");
    paged->join(*other->paged);
    next.insert(next.end(), other->next.begin(), other->next.end());
    memory_keys = std::max(memory_keys, other->memory_keys);
  }
  /// The first positions of a step of T positions, until the next call.
  std::span<const std::int64_t> advance(std::int64_t T) {
    firsts_.assign(next.begin(), next.end());
    for (std::int64_t& position : next) position += T;
    return firsts_;
  }

  std::vector<std::int64_t> next;   // the first position of the next step, of each sequence
  bool of_memory = false;           // whether the keys are those of a memory
  bool has_window = false;          // whether early positions are dropped
  std::int64_t memory_keys = 0;     // how many, padding included
  std::optional<PagedCache> paged;  // keys and values, if can_page()
  Tensor bias;                      // of paged keys, by distance; undefined: none
  std::optional<KvCache> cache;     // else those of the steps
  Heads memory;                     // or those of the memory
  Tensor lengths;

 private:
  void reorder_memory(std::span<const std::int64_t> from) {
    if (paged) return paged->reorder(from);
    if (cache) return cache->reorder(from);
    const Tensor ids = from_values(from, {std::ssize(from)});
    for (Tensor* const x : {&memory.k, &memory.v, &lengths}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  std::vector<std::int64_t> firsts_;  // of the last step
};

// Pages support biases by distance and windows, both for the positions of the steps; not other
// masks and stages, extra keys and f64.
bool MultiHeadAttention::can_page(bool of_memory) const {
  if (training() || has_extra_keys() || config_.normaliser != HeadWeights::softmax ||
      out_proj.weight.dtype() != DType::f32) {
    return false;
  }
  AttentionSpec spec;
  if (position) position->modify(spec, Corner::top_left);
  specialise(spec, Corner::top_left);
  const bool is_plain = spec.modifiers.empty() && spec.mask.everything();
  const bool by_distance =
      std::ranges::all_of(spec.modifiers, [](const Modifier& m) { return distance_stage(m); }) &&
      (spec.mask.everything() || spec.mask.name() == window(0, 0).name());
  return (is_plain || (by_distance && !of_memory)) && spec.reweights.empty() &&
         spec.normaliser.name() == softmax_weights().name();
}

// The biases of distances, from the greatest to 0, for at least so many positions; undefined if
// there are none.
const Tensor& MultiHeadAttention::bias_of(State& state, std::int64_t positions) const {
  if (state.bias.defined() && state.bias.size(1) >= positions) return state.bias;
  const std::int64_t keys = std::max(2 * positions, kLeastBiases);
  const kernels::AttentionShape shape{.B = 1,
                                      .H = config_.heads,
                                      .G = kv_heads(),
                                      .Tq = 1,
                                      .Tk = keys,
                                      .D = config_.head_size,
                                      .Dv = config_.head_size};
  AttentionSpec spec;
  const Corner last = Corner::offset(keys - 1);
  if (position) position->modify(spec, last);
  specialise(spec, last);
  state.bias = {};
  for (const Modifier& modifier : spec.modifiers) {
    const Tensor more = distance_stage(modifier)->bias_of_keys(shape, DType::f32);
    state.bias = state.bias.defined() ? contiguous(state.bias + more) : more;  // [H or 1, keys]
  }
  return state.bias;
}

// Pages and caches have no gradient; the keys and values of a memory have, in training.
std::unique_ptr<DecodeState> MultiHeadAttention::start(const DecodeStart& from) const {
  const bool learns = from.memory.defined() && !can_page(true) && grad_enabled();
  const GradScope scope(learns ? GradMode::on : GradMode::off);
  auto state = std::make_unique<State>();
  state->of_memory = from.memory.defined();
  const std::int64_t rows = state->of_memory ? from.memory.size(0) : from.batch;
  state->next.assign(static_cast<std::size_t>(rows), 0);
  if (can_page(state->of_memory)) {
    const auto back = state->of_memory ? std::nullopt : reach();
    state->has_window = back.has_value();
    state->paged.emplace(PagedCacheConfig{.rows = rows,
                                          .heads = kv_heads(),
                                          .features = config_.head_size,
                                          .form = from.cache,
                                          .window = back ? *back + 1 : 0});
    if (!state->of_memory) {
      bias_of(*state, 1);
      return state;
    }
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

std::int64_t MultiHeadAttention::cache_bytes(const CacheSize& size) const {
  const auto back = size.of_memory ? std::nullopt : reach();
  const std::int64_t kept = back ? std::min(size.positions, *back + kMostAtOnce) : size.positions;
  if (!can_page(size.of_memory)) {
    return 2 * kept * kv_size() *
           static_cast<std::int64_t>(size_of(cache_dtype(out_proj.weight.dtype())));
  }
  const kernels::PageShape page{kv_heads(), config_.head_size, config_.head_size, size.form};
  return (kept + kernels::kPagePositions - 1) / kernels::kPagePositions * page.bytes();
}

Tensor MultiHeadAttention::step(const Tensor& x, DecodeState& decode_state) const {
  auto* const state = dynamic_cast<State*>(&decode_state);
  HEED_CHECK(state != nullptr, "[{}] the state is another layer's: give what start() returned",
             name());
  const bool learns = state->of_memory && !state->paged && grad_enabled();
  const GradScope scope(learns ? GradMode::on : GradMode::off);
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
  const FirstPositions first(state.advance(T));
  PagedCache& cache = *state.paged;
  Heads heads;
  if (state.of_memory) {
    heads.q = queries(x);  // [B, H, T, D]
  } else {
    heads = project({.x = x});
    if (position) heads.k = position->rotate(heads.k, first);
  }
  if (position) heads.q = position->rotate(heads.q, first);
  if (!state.of_memory && first.greatest() == 0 && T > 1) {
    // A prompt: the positions attend to each other.
    cache.append(heads.k, heads.v);
    const AttentionSpec spec =
        spec_of({.x = x, .causal = true, .weights = state.weights}, Corner::top_left);
    return out_proj(join_heads(attention(heads.q, heads.k, heads.v, spec)));  // [B, T, E]
  }
  if (!state.of_memory) cache.append(heads.k, heads.v);
  const Tensor y = cache.attend(
      heads.q, {.scale = config_.scale,
                .soft_cap = config_.soft_cap,
                .causal = !state.of_memory,
                .bias = state.bias.defined() ? bias_of(state, cache.longest()) : Tensor(),
                .weights = state.weights,
                .keys = state.memory_keys});  // [B, T, H D]
  if (state.weights != nullptr && cache.first_kept() > 0) {
    *state.weights = slice(*state.weights, 3, cache.first_kept(), cache.longest());
  }
  return out_proj(y);  // [B, T, E]
}

Tensor MultiHeadAttention::step_few(const Tensor& x, State& state) const {
  const std::int64_t first = FirstPositions(state.advance(x.size(1))).of(0);
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
