#include "heed/attention/variants/pointer_generator.h"

#include <limits>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/pairs.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/choose.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/scan.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"

namespace heed {

void PointerGeneratorConfig::fields(io::Fields& field) {
  field("embed", embed, "features of decoder states", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("input_embed", input_embed, "features of decoder inputs; 0: as embed", {.min = 0});
  field("hidden", hidden, "features of the score; 0: as embed", {.min = 0});
  field("coverage", coverage, "whether scores depend on the earlier weights of each position");
}

namespace {

constexpr std::string_view kName = "pointer_generator";
constexpr double kHidden = -std::numeric_limits<double>::infinity();

PointerGeneratorConfig resolved(PointerGeneratorConfig config) {
  for (std::int64_t* const size : {&config.memory_embed, &config.input_embed, &config.hidden}) {
    if (*size == 0) *size = config.embed;
  }
  return config;
}

Tensor parameter(std::int64_t size, Generator& generator) {
  Tensor x = empty({1, size});
  init::kaiming_uniform(x, generator);
  return reshape(x, {size}).requires_grad();
}

}  // namespace

CopyGate::CopyGate(const CopyGateSizes& sizes, Generator& generator)
    : context({.in = sizes.context, .out = 1}, generator),
      state({.in = sizes.state, .out = 1, .bias = false}, generator),
      input({.in = sizes.input, .out = 1, .bias = false}, generator) {}

void CopyGate::visit(ParameterVisitor& visitor) {
  visitor("context_gate", context);
  visitor("state_gate", state);
  visitor("input_gate", input);
}

Tensor CopyGate::operator()(const Tensor& contexts, const Tensor& states,
                            const Tensor& inputs) const {
  return context(contexts) + state(states) + input(inputs);  // [B, T, 1]
}

PointerGenerator::PointerGenerator(const Config& config, Generator& generator)
    : memory_proj(
          {.in = resolved(config).memory_embed, .out = resolved(config).hidden, .bias = false},
          generator),
      query_proj({.in = config.embed, .out = resolved(config).hidden}, generator),
      v(parameter(resolved(config).hidden, generator)),
      gate({.context = resolved(config).memory_embed,
            .state = config.embed,
            .input = resolved(config).input_embed},
           generator),
      config_(resolved(config)) {
  if (config_.coverage) coverage_weight = parameter(config_.hidden, generator);
}

void PointerGenerator::visit(ParameterVisitor& visitor) {
  visitor("memory_proj", memory_proj);
  visitor("query_proj", query_proj);
  visitor("v", v);
  visitor("coverage_weight", coverage_weight);
  gate.visit(visitor);
}

void PointerGenerator::check(const AttentionInput& in) const {
  check_input(kName, in, config_.embed, config_.memory_embed);
}

// ---- attention ----------------------------------------------------------------------------------

// Computes one query after another; `seen` is boolean [B, Tq, Tk] or undefined. `coverage` [B, Tk,
// 1] is updated at each step.
Attended PointerGenerator::walk(const Tensor& queries, const Memory& memory, const Tensor& seen,
                                Tensor& coverage) const {
  const std::int64_t B = queries.size(0), Tq = queries.size(1), Tk = memory.keys.size(1);
  std::vector<Tensor> contexts, weights, coverages;
  for (std::int64_t t = 0; t < Tq; ++t) {
    Tensor keys = memory.keys, values = memory.values, visible;
    if (seen.defined()) {
      // Hidden values are replaced by 0, since NaN times a weight or gradient of 0 is NaN.
      visible = unsqueeze(view::select(seen, 1, t), 2);  // [B, Tk, 1]
      keys = where(visible, keys, 0.0);                  // [B, Tk, D]
      values = where(visible, values, 0.0);              // [B, Tk, E']
    }
    Tensor features = keys + slice(queries, 1, t, t + 1);  // [B, Tk, D]
    if (coverage_weight.defined()) features = features + coverage * coverage_weight;
    Tensor scores = matmul(tanh(features), unsqueeze(v, 1));  // [B, Tk, 1]
    if (visible.defined()) scores = where(visible, scores, kHidden);
    const Tensor a = softmax(scores, 1);               // [B, Tk, 1]
    contexts.push_back(matmul(transpose(a), values));  // [B, 1, E']
    weights.push_back(transpose(a));                   // [B, 1, Tk]
    coverages.push_back(transpose(coverage));          // [B, 1, Tk]
    coverage = coverage + a;                           // [B, Tk, 1]
  }
  const DType dtype = queries.dtype();
  if (Tq == 0) {
    return {zeros({B, 0, memory.values.size(2)}, dtype), zeros({B, 0, Tk}, dtype),
            zeros({B, 0, Tk}, dtype)};
  }
  return {concat(contexts, 1), concat(weights, 1), concat(coverages, 1)};
}

// Without coverage no step depends on another.
Attended PointerGenerator::at_once(const Tensor& queries, const Memory& memory,
                                   const AttentionInput& in) const {
  const Tensor q = unsqueeze(queries, 1), k = unsqueeze(memory.keys, 1);  // [B, 1, T, D]
  const AttentionSpec spec{.score = additive_score(v), .mask = mask_of(in)};
  const Tensor context = attention(q, k, unsqueeze(memory.values, 1), spec);  // [B, 1, Tq, E']
  const Tensor seen = dense_mask(spec.mask, {q.size(0), 1, q.size(2), k.size(2)});
  const Tensor a = squeeze(softmax(pair_scores(q, k, spec.score, seen)), 1);  // [B, Tq, Tk]
  return {squeeze(context, 1), a, cumsum(a, 1) - a};
}

Attended PointerGenerator::attend(const AttentionInput& in) const {
  check(in);
  const Tensor& source = in.source();
  const Tensor queries = query_proj(in.x);           // [B, Tq, D]
  const Memory memory{memory_proj(source), source};  // [B, Tk, D], [B, Tk, E']
  if (!config_.coverage) return at_once(queries, memory, in);
  const std::int64_t B = in.x.size(0), Tq = in.x.size(1), Tk = source.size(1);
  const Tensor seen = dense_mask(mask_of(in), {B, 1, Tq, Tk});  // [B, 1, Tq, Tk]
  Tensor coverage = zeros({B, Tk, 1}, in.x.dtype());            // [B, Tk, 1]
  return walk(queries, memory, seen.defined() ? view::squeeze(seen, 1) : seen, coverage);
}

Tensor PointerGenerator::operator()(const AttentionInput& in) const {
  const Attended attended = attend(in);
  if (in.weights != nullptr) *in.weights = unsqueeze(attended.weights.detach(), 1);
  return attended.context;  // [B, Tq, E']
}

// ---- decoding -----------------------------------------------------------------------------------

// The memory and its coverage; without a memory, all steps so far serve as memory.
class PointerGenerator::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
    for (Tensor* const x : {&memory.keys, &memory.values, &coverage, &lengths}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  bool grows = false;
  Memory memory;
  Tensor coverage;  // [B, Tk, 1]
  Tensor lengths;   // i64 [B], or undefined
};

std::unique_ptr<DecodeState> PointerGenerator::start(const DecodeStart& from) const {
  auto state = std::make_unique<State>();
  state->grows = !from.memory.defined();
  state->lengths = from.lengths;
  const Tensor memory = state->grows ? zeros({from.batch, 0, config_.memory_embed}, v.dtype())
                                     : from.memory;  // [B, Tk, E']
  state->memory = {memory_proj(memory), memory};
  state->coverage = zeros({memory.size(0), memory.size(1), 1}, v.dtype());  // [B, Tk, 1]
  return state;
}

Attended PointerGenerator::attend_step(const Tensor& x, DecodeState& decode_state) const {
  State& state = dynamic_cast<State&>(decode_state);
  check({.x = x, .memory = state.grows ? Tensor() : state.memory.values});
  Memory& memory = state.memory;
  if (state.grows) {
    memory.keys = concat({memory.keys, memory_proj(x)}, 1);  // [B, Tk, D]
    memory.values = concat({memory.values, x}, 1);           // [B, Tk, E']
    const Tensor fresh = zeros({x.size(0), x.size(1), 1}, x.dtype());
    state.coverage = concat({state.coverage, fresh}, 1);  // [B, Tk, 1]
  }
  const AttentionInput in{.x = x, .lengths = state.lengths, .causal = state.grows};
  const Shape pairs{x.size(0), 1, x.size(1), memory.keys.size(1)};
  const Tensor seen = dense_mask(mask_of(in, Corner::bottom_right), pairs);  // [B, 1, T, Tk]
  return walk(query_proj(x), memory, seen.defined() ? view::squeeze(seen, 1) : seen,
              state.coverage);
}

Tensor PointerGenerator::step(const Tensor& x, DecodeState& state) const {
  const Attended attended = attend_step(x, state);
  if (state.weights != nullptr) *state.weights = unsqueeze(attended.weights.detach(), 1);
  return attended.context;  // [B, T, E']
}

// ---- words --------------------------------------------------------------------------------------

Tensor PointerGenerator::generation_probability(const Attended& attended, const Tensor& states,
                                                const Tensor& inputs) const {
  return sigmoid(gate(attended.context, states, inputs));
}

Tensor copy_mixture(const Attended& attended, const Tensor& p_gen, const CopyWords& words) {
  const Tensor& a = attended.weights;  // [B, Tq, Tk]
  const std::int64_t B = a.size(0), Tq = a.size(1), Tk = a.size(2);
  HEED_CHECK(words.logits.rank() == 3 && words.logits.size(0) == B && words.logits.size(1) == Tq,
             "[copy_mixture] logits are {}: they must be [{}, {}, V]",
             to_string(words.logits.shape()), B, Tq);
  HEED_CHECK(words.source_ids.shape() == Shape({B, Tk}),
             "[copy_mixture] source_ids are {}: they must be [{}, {}], a word for each position",
             to_string(words.source_ids.shape()), B, Tk);
  HEED_CHECK(words.extra >= 0, "[copy_mixture] extra is {}: it must not be negative", words.extra);
  const Tensor written = p_gen * softmax(words.logits);        // [B, Tq, V]
  const Tensor none = zeros({B, Tq, words.extra}, a.dtype());  // [B, Tq, extra]
  const Tensor ids = view::expand(view::unsqueeze(words.source_ids, 1), {B, Tq, Tk});
  return scatter_add(concat({written, none}, 2), 2, ids, (1.0 - p_gen) * a);  // [B, Tq, V + extra]
}

Tensor coverage_loss(const Attended& attended) {
  return sum(minimum(attended.weights, attended.coverage), {2});  // [B, Tq]
}

}  // namespace heed
