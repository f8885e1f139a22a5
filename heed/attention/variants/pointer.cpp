#include "heed/attention/variants/pointer.h"

#include <algorithm>

#include "heed/attention/masks.h"
#include "heed/attention/pairs.h"
#include "heed/attention/stages.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

void PointerConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x", {.min = 1});
  field("memory_embed", memory_embed, "features of the memory; 0: as embed", {.min = 0});
  field("hidden", hidden, "features of the score; 0: as embed", {.min = 0});
}

namespace {

PointerConfig resolved(PointerConfig config) {
  if (config.memory_embed == 0) config.memory_embed = config.embed;
  if (config.hidden == 0) config.hidden = config.embed;
  return config;
}

}  // namespace

Pointer::Pointer(const Config& config, Generator& generator)
    : memory_proj(
          {.in = resolved(config).memory_embed, .out = resolved(config).hidden, .bias = false},
          generator),
      query_proj({.in = config.embed, .out = resolved(config).hidden, .bias = false}, generator),
      v(empty({1, resolved(config).hidden})),
      config_(resolved(config)) {
  init::kaiming_uniform(v, generator);
  v = reshape(v, {config_.hidden}).requires_grad();
}

void Pointer::visit(ParameterVisitor& visitor) {
  visitor("memory_proj", memory_proj);
  visitor("query_proj", query_proj);
  visitor("v", v);
}

// ---- whole sequences ----------------------------------------------------------------------------

Tensor Pointer::project(const Linear& by, const Tensor& x) const {
  return unsqueeze(by(x), 1);  // [B, 1, T, D]
}

Tensor Pointer::scores(const AttentionInput& in) const {
  check_input("pointer", in, config_.embed, config_.memory_embed);
  const Tensor q = project(query_proj, in.x);          // [B, 1, Tq, D]
  const Tensor k = project(memory_proj, in.source());  // [B, 1, Tk, D]
  const Tensor seen = dense_mask(mask_of(in), {q.size(0), 1, q.size(2), k.size(2)});
  return pair_scores(q, k, additive_score(v), seen);  // [B, 1, Tq, Tk]
}

Tensor Pointer::operator()(const AttentionInput& in) const {
  const Tensor p = softmax(scores(in));  // [B, 1, Tq, Tk]
  if (in.weights != nullptr) *in.weights = p.detach();
  return squeeze(p, 1);  // [B, Tq, Tk]
}

Tensor Pointer::log_probs(const AttentionInput& in) const {
  return squeeze(log_softmax(scores(in)), 1);  // [B, Tq, Tk]
}

Mask each_once(const Tensor& pointed, std::int64_t Tk) {
  HEED_CHECK(pointed.rank() == 2 && pointed.dtype() == DType::i64,
             "[each_once] pointed is {} {}: it must be i64 [B, Tq]", name_of(pointed.dtype()),
             to_string(pointed.shape()));
  check_index("each_once", "the positions", pointed, Tk);
  const std::int64_t B = pointed.size(0), Tq = pointed.size(1);
  const std::vector<std::int64_t> at = pointed.to_vector<std::int64_t>();
  Tensor seen = full({B, 1, Tq, Tk}, 1.0, DType::boolean);  // [B, 1, Tq, Tk]
  bool* const rows = seen.mutable_data<bool>();
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t i = 1; i < Tq; ++i) {
      bool* const row = rows + (b * Tq + i) * Tk;
      std::copy_n(row - Tk, Tk, row);
      row[at[static_cast<std::size_t>(b * Tq + i - 1)]] = false;
    }
  }
  return boolean_mask(seen);
}

// ---- decoding -----------------------------------------------------------------------------------

// The projected positions: those of a memory, or all steps so far.
class Pointer::State : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    const Tensor ids = from_values(from, {static_cast<std::int64_t>(from.size())});
    for (Tensor* const x : {&keys, &lengths, &free}) {
      if (x->defined()) *x = index_select(*x, 0, ids);
    }
  }

  bool grows = false;
  Tensor keys;     // [B, 1, Tk, D]
  Tensor lengths;  // i64 [B], or undefined
  Tensor free;     // boolean [B, 1, 1, Tk]: positions not taken; or undefined
};

std::unique_ptr<DecodeState> Pointer::start(const DecodeStart& from) const {
  auto state = std::make_unique<State>();
  state->grows = !from.memory.defined();
  state->lengths = from.lengths;
  state->keys = state->grows ? zeros({from.batch, 1, 0, config_.hidden}, v.dtype())
                             : project(memory_proj, from.memory);  // [B, 1, Tk, D]
  return state;
}

Tensor Pointer::step(const Tensor& x, DecodeState& decode_state) const {
  State& state = dynamic_cast<State&>(decode_state);
  AttentionInput in{.x = x, .lengths = state.lengths, .causal = state.grows};
  check_input("pointer", {.x = x}, config_.embed, config_.embed);
  if (state.grows) {
    state.keys = concat({state.keys, project(memory_proj, x)}, 2);  // [B, 1, Tk, D]
    if (state.free.defined()) {
      const Tensor added = full({x.size(0), 1, 1, x.size(1)}, 1.0, DType::boolean);
      state.free = concat({state.free, added}, 3);  // [B, 1, 1, Tk]
    }
  }
  if (state.free.defined()) in.mask = boolean_mask(state.free);
  const Tensor q = project(query_proj, x);  // [B, 1, T, D]
  const Tensor seen =
      dense_mask(mask_of(in, Corner::bottom_right), {q.size(0), 1, q.size(2), state.keys.size(2)});
  const Tensor p = softmax(pair_scores(q, state.keys, additive_score(v), seen));  // [B, 1, T, Tk]
  if (state.weights != nullptr) *state.weights = p.detach();
  return squeeze(p, 1);  // [B, T, Tk]
}

void Pointer::take(const Tensor& positions, DecodeState& decode_state) const {
  State& state = dynamic_cast<State&>(decode_state);
  const std::int64_t B = state.keys.size(0), Tk = state.keys.size(2);
  HEED_CHECK(positions.dtype() == DType::i64 && positions.shape() == Shape{B},
             "[pointer] positions taken are {} {}: they must be i64 [{}], one for each sequence",
             name_of(positions.dtype()), to_string(positions.shape()), B);
  check_index("pointer", "the positions", positions, Tk);
  // A reordered state may share its tensor with another, so it is never written in place.
  state.free = state.free.defined() ? clone_data(state.free)
                                    : full({B, 1, 1, Tk}, 1.0, DType::boolean);  // [B, 1, 1, Tk]
  const std::vector<std::int64_t> at = positions.to_vector<std::int64_t>();
  for (std::int64_t b = 0; b < B; ++b) {
    state.free.mutable_data<bool>()[b * Tk + at[static_cast<std::size_t>(b)]] = false;
  }
}

}  // namespace heed
