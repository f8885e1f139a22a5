#include "heed/attention/variants/transformer_xl.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/masks.h"
#include "heed/attention/positions/sinusoidal.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

void TransformerXlConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads", {.min = 1});
  field("mem_length", mem_length, "number of earlier positions a causal query attends to; 0: all",
        {.min = 0});
  field("dropout", dropout, "dropout probability of attention weights", {.min = 0, .max = 1});
}

void TransformerXlConfig::validate() const {
  HEED_CHECK(embed >= 1 && heads >= 1 && embed % heads == 0,
             "[transformer_xl] embed {} is not a multiple of heads {}", embed, heads);
  HEED_CHECK(mem_length >= 0, "[transformer_xl] mem_length {}: it must be 0 or more", mem_length);
  HEED_CHECK(dropout >= 0.0 && dropout < 1.0,
             "[transformer_xl] dropout {}: it must be at least 0 and below 1", dropout);
}

namespace {

// Distances, on either side, whose sinusoids are computed in advance.
constexpr std::int64_t kReady = 512;

// A cache with a window has room for so many queries at once; more are processed in parts.
constexpr std::int64_t kMostAtOnce = 64;

const TransformerXlConfig& checked(const TransformerXlConfig& config) {
  config.validate();
  return config;
}

CodeTable sinusoids_by_key(std::int64_t features) {
  return CodeTable(-kReady, kReady + 1, features,
                   [value = sinusoid(features, {.halves = true})](
                       std::int64_t distance, std::int64_t f) { return value(-distance, f); });
}

// The farthest distance of Tq queries, the first at position `first`, from Tk keys.
std::int64_t farthest(std::int64_t first, std::int64_t Tq, std::int64_t Tk) {
  return std::max({first + Tq - 1, Tk - 1 - first, std::int64_t{0}});
}

}  // namespace

TransformerXlAttention::TransformerXlAttention(const Config& config, Generator& generator)
    : qkv_net({.in = checked(config).embed, .out = 3 * config.embed, .bias = false}, generator),
      r_net({.in = config.embed, .out = config.embed, .bias = false}, generator),
      o_net({.in = config.embed, .out = config.embed, .bias = false}, generator),
      config_(config),
      sinusoids_(sinusoids_by_key(config.embed)) {
  for (Tensor* const bias : {&r_w_bias, &r_r_bias}) {
    *bias = empty({config.heads, config.embed / config.heads});
    init::normal(*bias, 0.02, generator);
    bias->requires_grad();
  }
}

void TransformerXlAttention::visit(ParameterVisitor& visitor) {
  visitor("qkv_net", qkv_net);
  visitor("r_net", r_net);
  visitor("o_net", o_net);
  visitor("r_w_bias", r_w_bias);
  visitor("r_r_bias", r_r_bias);
}

// ---- queries, keys, values and distances --------------------------------------------------------

// Part 0 is queries, 1 keys, 2 values.
Tensor TransformerXlAttention::project(const Tensor& x, int part) const {
  const std::int64_t E = config_.embed;
  return split_heads(qkv_net.rows(x, part * E, (part + 1) * E), config_.heads);  // [B, H, T, D]
}

Tensor TransformerXlAttention::project_queries(const Tensor& x) const {
  return project(x, 0) + unsqueeze(r_w_bias, 1);  // [B, H, T, D]
}

TransformerXlAttention::Relative TransformerXlAttention::relative(std::int64_t clip,
                                                                  DType dtype) const {
  const std::int64_t H = config_.heads, D = config_.embed / H, count = 2 * clip + 1;
  const Tensor all = r_net(sinusoids_.rows(-clip, count, dtype));                // [2c + 1, H D]
  const Tensor r = contiguous(permute(reshape(all, {count, H, D}), {1, 0, 2}));  // [H, 2c + 1, D]
  const Tensor extra = unsqueeze(r_r_bias - r_w_bias, 2);                        // [H, D, 1]
  const Tensor by_key = squeeze(matmul(r, extra), 2) / std::sqrt(static_cast<double>(D));
  Tensor backwards = empty({count}, DType::i64);
  for (std::int64_t i = 0; i < count; ++i) {
    backwards.mutable_data<std::int64_t>()[i] = count - 1 - i;
  }
  return {clip, r, index_select(by_key, 1, backwards)};
}

// ---- attention ----------------------------------------------------------------------------------

AttentionSpec TransformerXlAttention::spec_of(const AttentionInput& in, const Relative& relative,
                                              Corner corner) const {
  AttentionSpec spec;
  spec.modifiers.push_back(shaw_keys(relative.keys, corner));
  spec.modifiers.push_back(distance_bias(relative.bias, relative.clip, corner));
  spec.mask = mask_of(in, corner);
  if (in.causal && config_.mem_length > 0) {
    spec.mask = window(config_.mem_length, 0, corner) & spec.mask;
  }
  if (training() && config_.dropout > 0.0) {
    spec.reweights.push_back(weight_dropout(config_.dropout, default_generator().next()));
  }
  if (in.weights != nullptr) spec.observers.push_back(observe_weights(*in.weights));
  return spec;
}

// `first` is the position of the first query among the keys.
Tensor TransformerXlAttention::attend(const AttentionInput& in, std::int64_t first) const {
  check_input("transformer_xl", in, config_.embed, config_.embed);
  const Tensor& source = in.source();
  const std::int64_t clip = farthest(first, in.x.size(1), source.size(1));
  const Tensor q = project_queries(in.x);                       // [B, H, Tq, D]
  const Tensor k = project(source, 1), v = project(source, 2);  // [B, H, Tk, D]
  const AttentionSpec spec = spec_of(in, relative(clip, in.x.dtype()), Corner::offset(first));
  return attention(q, k, v, spec);  // [B, H, Tq, D]
}

Tensor TransformerXlAttention::operator()(const AttentionInput& in) const {
  return o_net(join_heads(attend(in, 0)));  // [B, Tq, E]
}

Tensor TransformerXlAttention::segment(const Tensor& x, const Tensor& earlier) const {
  if (!earlier.defined()) return (*this)({.x = x, .causal = true});
  check_input("transformer_xl", {.x = x, .memory = earlier}, config_.embed, config_.embed);
  const Tensor both = concat({earlier.detach(), x}, 1);  // [B, M + T, E]
  const AttentionInput in{.x = x, .memory = both, .causal = true};
  return o_net(join_heads(attend(in, earlier.size(1))));  // [B, T, E]
}

// ---- decoding -----------------------------------------------------------------------------------

// Without a memory: the keys and values of the positions so far. With a memory: its keys and
// values.
class TransformerXlAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    if (cache) return cache->reorder(from);
    const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
    for (Tensor* const x : {&k, &v, &lengths}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  std::int64_t next = 0;  // the first position of the next step
  std::optional<KvCache> cache;
  Tensor k, v;  // [B, H, Tk, D], of a memory
  Tensor lengths;
  Relative relative;
};

std::unique_ptr<DecodeState> TransformerXlAttention::start(const DecodeStart& from) const {
  const NoGrad no_grad;
  auto state = std::make_unique<State>();
  const std::int64_t H = config_.heads;
  if (!from.memory.defined()) {
    KvCacheConfig config{.batch = from.batch,
                         .heads = H,
                         .features = config_.embed / H,
                         .dtype = cache_dtype(o_net.weight.dtype())};
    if (config_.mem_length > 0) config.window = config_.mem_length + kMostAtOnce;
    state->cache.emplace(config);
    return state;
  }
  const Tensor nothing = empty({from.memory.size(0), 0, config_.embed});  // [B, 0, E]
  check_input("transformer_xl", {.x = nothing, .memory = from.memory, .lengths = from.lengths},
              config_.embed, config_.embed);
  state->k = project(from.memory, 1);
  state->v = project(from.memory, 2);
  state->lengths = from.lengths;
  return state;
}

Tensor TransformerXlAttention::step(const Tensor& x, DecodeState& decode_state) const {
  const NoGrad no_grad;
  auto* const state = dynamic_cast<State*>(&decode_state);
  HEED_CHECK(state != nullptr,
             "[transformer_xl] the state is another layer's: give what start() returned");
  check_input("transformer_xl", {.x = x}, config_.embed, config_.embed);
  const std::int64_t T = x.size(1);
  if (!state->cache || !state->cache->window() || T <= kMostAtOnce) return step_few(x, *state);
  std::vector<Tensor> parts;
  for (std::int64_t t = 0; t < T; t += kMostAtOnce) {
    parts.push_back(step_few(slice(x, 1, t, std::min(T, t + kMostAtOnce)), *state));
  }
  return concat(parts, 1);  // [B, T, E]
}

Tensor TransformerXlAttention::step_few(const Tensor& x, State& state) const {
  const std::int64_t T = x.size(1);
  std::int64_t first = std::exchange(state.next, state.next + T);
  AttentionInput in{.x = x, .lengths = state.lengths, .weights = state.weights};
  if (state.cache) {
    state.cache->append(project(x, 1), project(x, 2));
    state.k = state.cache->keys();    // [B, H, Tk, D]
    state.v = state.cache->values();  // [B, H, Tk, D]
    first -= state.cache->first_position();
    in.causal = true;
  }
  // Computed for twice the distance, so that it is rarely computed again.
  const std::int64_t clip = farthest(first, T, state.k.size(2));
  if (clip > state.relative.clip) state.relative = relative(2 * clip, x.dtype());
  const AttentionSpec spec = spec_of(in, state.relative, Corner::offset(first));
  const Tensor q = project_queries(x);                             // [B, H, T, D]
  return o_net(join_heads(attention(q, state.k, state.v, spec)));  // [B, T, E]
}

}  // namespace heed
