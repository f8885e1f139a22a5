#include "heed/attention/variants/global.h"

#include <cmath>
#include <utility>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/decode.h"
#include "heed/attention/stages/observers.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

void GlobalConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("score", score, "score function of a query and a state");
  field("hidden", hidden, "features of the additive score; 0: as embed", {.min = 0});
  field("max_length", max_length, "maximum number of positions of the location score", {.min = 1});
  field("combine", combine, "whether the result is f(W_c [context; x]), with f = tanh");
  field("output_activation", output_activation, "combine: f instead of tanh");
}

void GlobalConfig::validate() const {
  const bool product = score == AlignScore::dot || score == AlignScore::scaled_dot;
  HEED_CHECK(!product || memory_embed == 0 || memory_embed == embed,
             "[global] embed {} and memory_embed {}: dot products need equal sizes, score=general "
             "does not",
             embed, memory_embed);
}

namespace {

Tensor parameter(const Shape& shape, Generator& generator) {
  Tensor x = empty(shape);
  init::kaiming_uniform(x, generator);
  return x.requires_grad();
}

}  // namespace

GlobalAttention::GlobalAttention(const Config& config, Generator& generator) : config_(config) {
  config.validate();
  if (config_.memory_embed == 0) config_.memory_embed = config_.embed;
  if (config_.hidden == 0) config_.hidden = config_.embed;
  const std::int64_t E = config_.embed, memory = config_.memory_embed;
  if (config_.score == AlignScore::general) weight = parameter({E, memory}, generator);
  if (config_.score == AlignScore::location) weight = parameter({config_.max_length, E}, generator);
  if (config_.score == AlignScore::additive) {
    query.emplace(LinearConfig{.in = E, .out = config_.hidden, .bias = false}, generator);
    key.emplace(LinearConfig{.in = memory, .out = config_.hidden, .bias = false}, generator);
    v = empty({config_.hidden});
    const double range = 1.0 / std::sqrt(static_cast<double>(config_.hidden));
    init::uniform(v, -range, range, generator);
    v.requires_grad();
  }
  if (config_.combine) {
    combine.emplace(
        LinearConfig{
            .in = memory + E, .out = E, .bias = false, .activation = config_.output_activation},
        generator);
  }
}

void GlobalAttention::visit(ParameterVisitor& visitor) {
  visitor("weight", weight);
  visitor("query", query);
  visitor("key", key);
  visitor("v", v);
  visitor("combine", combine);
}

// ---- attention ----------------------------------------------------------------------------------

Tensor GlobalAttention::queries(const Tensor& x) const {
  return unsqueeze(query ? (*query)(x) : x, 1);  // [B, 1, Tq, D]
}

// The keys of the memory's positions from `first` on.
Tensor GlobalAttention::keys(const Tensor& memory, std::int64_t first) const {
  if (config_.score != AlignScore::location) {
    return unsqueeze(key ? (*key)(memory) : memory, 1);  // [B, 1, Tk, D]
  }
  const std::int64_t end = first + memory.size(1);
  HEED_CHECK(end <= config_.max_length,
             "[{}] the memory has {} positions, the location score knows {}: make the layer with a "
             "greater max_length",
             name(), end, config_.max_length);
  const Tensor rows = slice(weight, 0, first, end);                         // [Tk, E]
  return expand(rows, {memory.size(0), 1, memory.size(1), config_.embed});  // [B, 1, Tk, E]
}

AttentionSpec GlobalAttention::spec_of(const AttentionInput& in, const Place& place) const {
  AttentionSpec spec{.score = dot_score(), .mask = mask_of(in, place.corner)};
  if (config_.score == AlignScore::scaled_dot) spec.score = scaled_dot_score();
  if (config_.score == AlignScore::general) spec.score = general_score(weight);
  if (config_.score == AlignScore::additive) spec.score = additive_score(v);
  specialise(spec, in, place);
  if (in.weights != nullptr) {
    spec.observers.push_back(observe_weights(*in.weights, {}, WeightsAt::read));
  }
  return spec;
}

GlobalAttention::Call GlobalAttention::call_of(const AttentionInput& in) const {
  check_input(name(), in, config_.embed, config_.memory_embed);
  const Tensor& memory = in.source();
  return {queries(in.x), keys(memory), unsqueeze(memory, 1), spec_of(in, {memory.size(1)})};
}

Tensor GlobalAttention::attend(const Call& call) const {
  return attention(call.q, call.k, call.v, call.spec);  // [B, 1, Tq, E']
}

Tensor GlobalAttention::result(const Tensor& contexts, const Tensor& x) const {
  const Tensor context = squeeze(contexts, 1);  // [B, Tq, E']
  if (!combine) return context;
  return (*combine)(concat({context, x}, -1));  // [B, Tq, E]
}

Tensor GlobalAttention::operator()(const AttentionInput& in) const {
  return result(attend(call_of(in)), in.x);
}

// ---- decoding -----------------------------------------------------------------------------------

// Without a memory: the keys and values of all positions so far. With a memory: its keys and
// values, and the number of queries so far.
class GlobalAttention::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    config.batch = static_cast<std::int64_t>(from.size());
    if (cache) cache->reorder(from);
    if (!keys.defined()) return;
    const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
    for (Tensor* const x : {&keys, &values, &lengths}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  KvCacheConfig config;
  std::optional<KvCache> cache;  // made at the first step: a layer may have no parameters, and then
                                 // only the input tells the dtype
  Tensor keys, values, lengths;
  std::int64_t next_query = 0;
};

std::unique_ptr<DecodeState> GlobalAttention::start(const DecodeStart& from) const {
  auto state = std::make_unique<State>();
  if (from.memory.defined()) {
    const Tensor no_queries = zeros({from.memory.size(0), 0, config_.embed}, from.memory.dtype());
    check_input(name(), {.x = no_queries, .memory = from.memory, .lengths = from.lengths},
                config_.embed, config_.memory_embed);
    state->keys = keys(from.memory);            // [B, 1, Tk, D]
    state->values = unsqueeze(from.memory, 1);  // [B, 1, Tk, E']
    state->lengths = from.lengths;
    return state;
  }
  state->config = {
      .batch = from.batch, .heads = 1, .features = key_size(), .value_features = config_.embed};
  return state;
}

Tensor GlobalAttention::step(const Tensor& x, DecodeState& decode_state) const {
  auto* const known = dynamic_cast<State*>(&decode_state);
  HEED_CHECK(known != nullptr, "[{}] the state is another layer's: give what start() returned",
             name());
  State& state = *known;
  check_input(name(), {.x = x}, config_.embed, config_.embed);
  if (state.keys.defined()) {
    const Place place{state.keys.size(2), Corner::offset(state.next_query)};
    state.next_query += x.size(1);
    const AttentionSpec spec =
        spec_of({.x = x, .lengths = state.lengths, .weights = state.weights}, place);
    return result(attend({queries(x), state.keys, state.values, spec}), x);
  }
  if (!state.cache) {
    state.config.dtype = cache_dtype(x.dtype());
    state.cache.emplace(state.config);
  }
  KvCache& cache = *state.cache;
  cache.append(keys(x, cache.length()), unsqueeze(x, 1));
  const Place place{cache.length(), Corner::bottom_right};
  const AttentionSpec spec = spec_of({.x = x, .causal = true, .weights = state.weights}, place);
  return result(attention_decode(queries(x), cache, spec), x);
}

}  // namespace heed
