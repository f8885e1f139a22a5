#include "heed/attention/variants/intra.h"

#include <algorithm>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/variants/input_checks.h"
#include "heed/attention/variants/multi_head_config.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/nn/init.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/rnn.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {

void IntraConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the states", {.min = 1});
  field("score_hidden", score_hidden, "features of the score; 0: as embed", {.min = 0});
}

void IntraConfig::validate() const {
  HEED_CHECK(embed >= 1 && score_hidden >= 0,
             "[intra] embed {}, score_hidden {}: embed must be at least 1, score_hidden at least 0",
             embed, score_hidden);
}

IntraAttention::IntraAttention(const Config& config, Generator& generator)
    : input({.in = valid(config).embed, .out = 4 * config.embed}, generator),
      state({.in = config.embed, .out = 4 * config.embed}, generator),
      score_input(
          {.in = config.embed, .out = config.score_hidden > 0 ? config.score_hidden : config.embed},
          generator),
      score_read({.in = config.embed, .out = score_input.weight.out(), .bias = false}, generator),
      score_key({.in = config.embed, .out = score_input.weight.out(), .bias = false}, generator),
      score(empty({score_input.weight.out()})),
      config_(config) {
  init::normal(score, 0.1, generator);
  score.requires_grad();
}

void IntraAttention::visit(ParameterVisitor& visitor) {
  visitor("input", input);
  visitor("state", state);
  visitor("score_input", score_input);
  visitor("score_read", score_read);
  visitor("score_key", score_key);
  visitor("score", score);
}

// The states and cells of the positions so far.
class IntraAttention::Tape : public DecodeState {
 public:
  void reorder(std::span<const std::int64_t> from) override {
    const Tensor ids = from_values(from, {std::ssize(from)});
    keys = index_select(keys, 0, ids);
    kept = index_select(kept, 0, ids);
    read = index_select(read, 0, ids);
  }

  Tensor keys;  // [B, 1, t, D]: W_h h_i
  Tensor kept;  // [B, 1, t, 2 E]: h_i and c_i
  Tensor read;  // [B, E]: r of the position before
};

void IntraAttention::check(const AttentionInput& in) const {
  refuse_memory("intra", in.memory);
  refuse_mask("intra", in.mask);
  check_input("intra", in, config_.embed, config_.embed);
}

namespace {

// The first min(length, t) of t positions.
Mask first_of(const Tensor& lengths, std::int64_t t) {
  if (!lengths.defined()) return {};
  std::vector<std::int64_t> counts = lengths.to_vector<std::int64_t>();
  for (std::int64_t& count : counts) count = std::min(count, t);
  return key_lengths(counts);
}

// Weights of one position [B, 1, 1, t] as a row of all [B, 1, T, Tk], which are 0 at first.
void put_row(const Tensor& weights, std::int64_t row, Tensor& all) {
  const std::int64_t B = all.size(0), T = all.size(2), Tk = all.size(3), t = weights.size(3);
  const Tensor from = contiguous_copy(weights);
  for (std::int64_t b = 0; b < B; ++b) {
    visit_float("intra", all.dtype(), [&](auto zero) {
      using Number = decltype(zero);
      std::copy_n(from.data<Number>() + b * t, t, all.mutable_data<Number>() + (b * T + row) * Tk);
    });
  }
}

}  // namespace

Tensor IntraAttention::run(const AttentionInput& in, Tape& tape, Tensor* weights) const {
  const Tensor& x = in.x;
  const std::int64_t B = x.size(0), T = x.size(1), E = config_.embed, D = score_size();
  const std::int64_t before = tape.keys.size(2);
  if (weights != nullptr) *weights = zeros({B, 1, T, before + T}, x.dtype());
  const Tensor gates = input(x);        // [B, T, 4 E]
  const Tensor asked = score_input(x);  // [B, T, D]
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < T; ++t) {
    const Tensor q = select(asked, 1, t) + score_read(tape.read);  // [B, D]
    Tensor seen;
    AttentionSpec spec{.score = additive_score(score), .mask = first_of(in.lengths, before + t)};
    if (weights != nullptr) spec.observers.push_back(observe_weights(seen));
    const Tensor read =
        reshape(attention(reshape(q, {B, 1, 1, D}), tape.keys, tape.kept, spec), {B, 2 * E});
    if (weights != nullptr) put_row(seen, t, *weights);
    tape.read = slice(read, 1, 0, E);  // [B, E]
    const RnnStep next = lstm_step({.gates = select(gates, 1, t),
                                    .hidden_gates = state(tape.read),
                                    .state = tape.read,
                                    .cell = slice(read, 1, E, 2 * E)});
    const Tensor kept = reshape(concat({next.state, next.cell}, 1), {B, 1, 1, 2 * E});
    tape.keys = concat({tape.keys, reshape(score_key(next.state), {B, 1, 1, D})}, 2);
    tape.kept = concat({tape.kept, kept}, 2);
    states.push_back(unsqueeze(next.state, 1));
  }
  return states.empty() ? zeros({B, 0, E}, x.dtype()) : concat(states, 1);  // [B, T, E]
}

Tensor IntraAttention::operator()(const AttentionInput& in) const {
  check(in);
  const std::unique_ptr<DecodeState> tape = start({.batch = in.x.size(0)});
  return run(in, static_cast<Tape&>(*tape), in.weights);
}

std::unique_ptr<DecodeState> IntraAttention::start(const DecodeStart& from) const {
  refuse_memory("intra", from.memory);
  auto tape = std::make_unique<Tape>();
  const DType dtype = input.weight.dtype();
  tape->keys = zeros({from.batch, 1, 0, score_size()}, dtype);
  tape->kept = zeros({from.batch, 1, 0, 2 * config_.embed}, dtype);
  tape->read = zeros({from.batch, config_.embed}, dtype);
  return tape;
}

Tensor IntraAttention::step(const Tensor& x, DecodeState& decode_state) const {
  auto* const tape = dynamic_cast<Tape*>(&decode_state);
  HEED_CHECK(tape != nullptr, "[intra] the state is another layer's: give what start() returned");
  check({.x = x});
  const NoGrad no_grad;
  return run({.x = x}, *tape, tape->weights);
}

std::int64_t IntraAttention::cache_bytes(const CacheSize& size) const {
  return size.positions * (score_size() + 2 * config_.embed) *
         static_cast<std::int64_t>(size_of(input.weight.dtype()));
}

}  // namespace heed
