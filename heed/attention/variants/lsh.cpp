#include "heed/attention/variants/lsh.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/masks.h"
#include "heed/attention/masks/mask_fn.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/stages/score_mod.h"
#include "heed/attention/variants/input_checks.h"
#include "heed/attention/variants/lsh_rounds.h"
#include "heed/attention/variants/lsh_scores.h"
#include "heed/attention/variants/lsh_state.h"
#include "heed/autograd/checkpoint.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/norm.h"
#include "heed/ops/reduce.h"
#include "heed/ops/rounds.h"
#include "heed/ops/softmax.h"
#include "heed/tensor/copy.h"

namespace heed {

void LshConfig::fields(io::Fields& field) {
  field("embed", embed, "features of x and of the result", {.min = 1});
  field("heads", heads, "heads", {.min = 1});
  field("buckets", buckets, "buckets of a hash: 1 or an even number", {.min = 1});
  field("chunk", chunk,
        "sorted positions in a chunk; a chunk attends to itself and to the one before", {.min = 1});
  field("rounds", rounds, "number of hashes, whose results are combined", {.min = 1});
  field("seed", seed, "seed of the hashes", {.min = 0});
  field("bias", bias, "whether the linear layers have biases");
  field("dropout", dropout, "dropout probability of attention weights", {.min = 0, .max = 1});
  field("head_size", head_size, "features of a head; 0: embed / heads", {.min = 0});
  field("output_activation", output_activation, "activation f of the output layer, f(W h + b)");
  field("factor", factor,
        "1: one hash; an even number: a bucket is a pair of hashes, the second with so many values",
        {.min = 1});
  field("evaluation_rounds", evaluation_rounds,
        "number of hashes outside training; none: as rounds", {.min = 1});
  field("redraw", redraw, "whether training draws new hashes at every step");
  field("reach", reach,
        "bucket: the last `chunk` positions of the bucket; chunk: two chunks, as in the paper; "
        "mixed: the same with positions of other buckets, as transformers does");
  field("unique", unique, "whether a pair that several rounds find counts once");
  field("heads_at_once", heads_at_once, "heads whose sorted copies are in memory at a time; 0: all",
        {.min = 0});
}

void LshConfig::validate() const {
  HEED_CHECK(head_size > 0 || embed % heads == 0, "[lsh] embed {} is not a multiple of heads {}",
             embed, heads);
  HEED_CHECK(buckets == 1 || buckets % 2 == 0,
             "[lsh] buckets {}: there are two for each direction, so it must be even, or 1",
             buckets);
  HEED_CHECK(factor == 1 || (factor % 2 == 0 && buckets > 1),
             "[lsh] factor {} with buckets {}: a bucket is a pair of hashes then, and both numbers "
             "must be even",
             factor, buckets);
  HEED_CHECK(rounds >= 1 && evaluation_rounds.value_or(1) >= 1,
             "[lsh] rounds {}, evaluation_rounds {}: there must be at least one", rounds,
             evaluation_rounds.value_or(rounds));
  HEED_CHECK(!unique || reach != LshReach::mixed,
             "[lsh] unique with reach = mixed: one round may find a pair twice there; use reach = "
             "chunk or bucket");
}

namespace {

// Keys have length 1, multiplied by the scale 1 / sqrt(D) of scores.
Tensor keys_of(const Tensor& qk) { return rms_norm(qk, {.eps = 1e-6}); }

// The places of rows [B, T, H] in the order [B, rounds, H, T].
RoundPlaces places_of(const LshOrder& order) {
  const std::int64_t B = order.order.size(0), R = order.order.size(1);
  const std::int64_t H = order.order.size(2), T = order.order.size(3);
  RoundPlaces at{empty({B, R * H, T}, DType::i64), empty({R, B * T * H}, DType::i64)};
  for (std::int64_t line = 0; line < B * R * H; ++line) {
    const std::int64_t b = line / (R * H), r = line / H % R, h = line % H;
    for (std::int64_t s = 0; s < T; ++s) {
      const std::int64_t place = line * T + s;
      const std::int64_t row = (b * T + order.order.data<std::int64_t>()[place]) * H + h;
      at.rows.mutable_data<std::int64_t>()[place] = row;
      at.places.mutable_data<std::int64_t>()[r * B * T * H + row] = place;
    }
  }
  return at;
}

}  // namespace

LshAttention::LshAttention(const Config& config, Generator& generator)
    : qk_proj(
          {.in = config.embed, .out = config.heads * config.head_features(), .bias = config.bias},
          generator),
      v_proj(
          {.in = config.embed, .out = config.heads * config.head_features(), .bias = config.bias},
          generator),
      out_proj({.in = config.heads * config.head_features(),
                .out = config.embed,
                .bias = config.bias,
                .activation = config.output_activation},
               generator),
      config_(config) {
  config_.validate();
  const std::int64_t evaluation = config_.evaluation_rounds.value_or(config_.rounds);
  training_ = {config_.rounds, lsh_directions(directions_of(config_.rounds))};
  evaluation_ = {evaluation, lsh_directions(directions_of(evaluation))};
}

LshDirections LshAttention::directions_of(std::int64_t rounds) const {
  return {.heads = config_.heads,
          .features = config_.head_features(),
          .rounds = rounds,
          .buckets = config_.buckets,
          .seed = static_cast<std::uint64_t>(config_.seed),
          .factor = config_.factor};
}

void LshAttention::set_directions(const Tensor& directions) {
  HEED_CHECK(
      directions.dtype() == DType::f32 && directions.shape() == evaluation_.directions.shape(),
      "[lsh] directions {} {}: this layer needs f32 {}", name_of(directions.dtype()),
      to_string(directions.shape()), to_string(evaluation_.directions.shape()));
  evaluation_.directions = directions;
}

void LshAttention::visit(ParameterVisitor& visitor) {
  visitor("qk_proj", qk_proj);
  visitor("v_proj", v_proj);
  visitor("out_proj", out_proj);
}

void LshAttention::check(const AttentionInput& in) const {
  check_input("lsh", in, config_.embed, config_.embed);
  refuse_memory("lsh", in.memory);
  refuse_mask("lsh", in.mask);
}

// New directions are a function of the generator's state, which a second pass restores.
LshAttention::Hash LshAttention::hash_of_call() const {
  if (!training()) return evaluation_;
  if (!config_.redraw) return training_;
  return {config_.rounds, lsh_directions(directions_of(config_.rounds), default_generator())};
}

void LshAttention::add_dropout(AttentionSpec& spec) const {
  if (!training() || config_.dropout == 0.0) return;
  spec.reweights.push_back(weight_dropout(config_.dropout, default_generator().next()));
}

// ---- whole sequences ----------------------------------------------------------------------------

/// Some heads in all rounds, with their positions sorted.
struct LshAttention::Sorted {
  LshOrder order;
  Tensor key_positions;  // i64 [B, rounds, H, Tk], by place
  RoundPlaces at;
  Tensor q, k, v;  // [B, rounds H, T or Tk, D]
  AttentionSpec spec;
};

// LshReach::mixed: a chunk of the round before comes first, and which keys are visible is decided
// pair by pair.
void LshAttention::sort_keys(const Tensor& q, const Tensor& v, const AttentionInput& in,
                             Sorted& s) const {
  const std::int64_t B = q.size(0), T = q.size(1), H = q.size(2), D = q.size(3);
  s.key_positions = lsh_mixed_keys(s.order, config_.chunk);  // [B, R, H, Tk]
  const std::int64_t Tk = s.key_positions.size(3), lines = s.key_positions.size(1) * H;
  Tensor rows = empty({B, lines, Tk}, DType::i64);
  for (std::int64_t n = 0; n < rows.numel(); ++n) {
    const std::int64_t b = n / (lines * Tk), h = n / Tk % H;
    const std::int64_t position =
        std::max<std::int64_t>(0, s.key_positions.data<std::int64_t>()[n]);
    rows.mutable_data<std::int64_t>()[n] = (b * T + position) * H + h;
  }
  s.k = embedding(reshape(keys_of(q), {B * T * H, D}), rows);  // [B, R H, Tk, D]
  s.v = embedding(reshape(v, {B * T * H, D}), rows);           // [B, R H, Tk, D]
  const Tensor lengths =
      in.lengths.defined() ? in.lengths : full({B}, static_cast<double>(T), DType::i64);
  const auto position_of = [lines](const Tensor& x, int b, int h, int i) {
    return x.data<std::int64_t>()[(b * lines + h) * x.size(3) + i];
  };
  const auto visible = [=, causal = in.causal, keys = s.key_positions, queries = s.order.order](
                           int b, int h, int i, int j) {
    const std::int64_t key = position_of(keys, b, h, j);
    return key >= 0 && key < lengths.data<std::int64_t>()[b] &&
           (!causal || key <= position_of(queries, b, h, i));
  };
  s.spec.mask = s.spec.mask & mask_fn(visible);
  s.spec.modifiers.push_back(score_mod(
      [=, keys = s.key_positions, queries = s.order.order](auto score, int b, int h, int i, int j) {
        const bool itself = position_of(keys, b, h, j) == position_of(queries, b, h, i);
        return itself ? decltype(score)(kLshSelfScore) : score;
      }));
}

// q [B, T, H, D].
LshOrder LshAttention::order_of(const Tensor& q, const Hash& hash, const AttentionInput& in) const {
  const Tensor buckets =
      lsh_buckets(transpose(q, 1, 2), hash.directions, hash.rounds, config_.factor);
  return lsh_order(buckets, in.lengths,
                   {.buckets = all_buckets(),
                    .chunk = config_.chunk,
                    .causal = in.causal,
                    .reach = config_.reach});
}

// q and v [B, T, H, D].
LshAttention::Sorted LshAttention::sort(const Tensor& q, const Tensor& v, const Hash& hash,
                                        const AttentionInput& in) const {
  const std::int64_t B = q.size(0), T = q.size(1), H = q.size(2), D = q.size(3);
  const Shape sorted{B, hash.rounds * H, T, D}, intervals{B, hash.rounds * H, T};
  Sorted s;
  s.order = order_of(q, hash, in);
  s.at = places_of(s.order);
  s.spec.mask = row_intervals(reshape(s.order.first, intervals), reshape(s.order.last, intervals));
  s.q = reshape(repeat_rows(reshape(q, {B * T * H, D}), s.at), sorted);
  sort_keys(q, v, in, s);
  add_dropout(s.spec);
  return s;
}

namespace {

// The weights of all rounds, which are sorted by place, as [B, H, T, T] by position: combined like
// the results of the rounds.
Tensor weights_by_position(const Tensor& by_place, const Tensor& lse, const LshOrder& order,
                           const Tensor& key_positions) {
  const NoGrad no_grad;
  const std::int64_t B = order.order.size(0), R = order.order.size(1);
  const std::int64_t H = order.order.size(2), T = order.order.size(3), Tk = key_positions.size(3);
  const Tensor in_order = reshape(lse, order.order.shape());                       // [B, R, H, T]
  const Tensor shares = contiguous(softmax(gather(in_order, 3, order.place), 1));  // by position
  Tensor weights = zeros({B, H, T, T}, by_place.dtype());
  visit_float("lsh", by_place.dtype(), [&](auto zero) {
    using Number = decltype(zero);
    for (std::int64_t row = 0; row < B * R * H * T; ++row) {
      const std::int64_t line = row / T, b = line / (R * H), h = line % H;
      const std::int64_t i = order.order.data<std::int64_t>()[row];
      const Number share = shares.data<Number>()[line * T + i];
      Number* const to = weights.mutable_data<Number>() + ((b * H + h) * T + i) * T;
      for (std::int64_t c = 0; c < Tk; ++c) {
        const std::int64_t j = key_positions.data<std::int64_t>()[line * Tk + c];
        const Number weight = by_place.data<Number>()[row * Tk + c];
        if (j >= 0 && weight != Number{0}) to[j] += share * weight;
      }
    }
  });
  return weights;
}

}  // namespace

// q and v [B, T, H, D] -> [B, T, H, D], by ops on sorted copies, for LshReach::mixed.
Tensor LshAttention::attend(const Tensor& q, const Tensor& v, const Hash& hash,
                            const AttentionInput& in) const {
  Sorted s = sort(q, v, hash, in);
  Tensor by_place;  // [B, rounds H, T, Tk], rows and columns in sorted order
  if (in.weights != nullptr) s.spec.observers.push_back(observe_weights(by_place));
  const AttentionResult y = attention_with_log_sum_exp(s.q, s.k, s.v, s.spec);
  const std::int64_t rows = s.at.rows.numel(), D = q.size(3);
  if (in.weights != nullptr) {
    *in.weights = weights_by_position(by_place, y.log_sum_exp.detach(), s.order, s.key_positions);
  }
  return reshape(join_rounds(reshape(y.output, {rows, D}), reshape(y.log_sum_exp, {rows}), s.at),
                 q.shape());
}

// The same for some heads after others, each group computed again in the backward pass.
Tensor LshAttention::attend_by_groups(const Tensor& q, const Tensor& v, const Hash& hash,
                                      const AttentionInput& in) const {
  const std::int64_t H = config_.heads, group = config_.heads_at_once;
  if (group == 0 || group >= H || in.weights != nullptr) return attend(q, v, hash, in);
  std::vector<Tensor> made;
  for (std::int64_t h = 0; h < H; h += group) {
    const std::int64_t end = std::min(H, h + group);
    const Hash part{hash.rounds, slice(hash.directions, 0, h, end)};
    const Tensor inputs[] = {slice(q, 2, h, end), slice(v, 2, h, end)};
    made.push_back(checkpoint(
        [this, part, lengths = in.lengths, causal = in.causal](std::span<const Tensor> given) {
          return attend(contiguous(given[0]), contiguous(given[1]), part,
                        {.x = {}, .lengths = lengths, .causal = causal});
        },
        inputs));
  }
  return concat(made, 2);
}

// The other reaches, by one op that has no sorted copies on the tape.
Tensor LshAttention::attend_at_once(const Tensor& q, const Tensor& v, const Hash& hash,
                                    const AttentionInput& in) const {
  LshRounds by{.order = order_of(q, hash, in),
               .lengths = in.lengths,
               .causal = in.causal,
               .unique = config_.unique,
               .heads_at_once = std::min(config_.heads_at_once, config_.heads),
               .reweights = {},
               .weights = in.weights};
  for (std::int64_t g = 0; g < by.groups() && training() && config_.dropout > 0.0; ++g) {
    by.reweights.push_back(weight_dropout(config_.dropout, default_generator().next()));
  }
  return attend_in_rounds(q, keys_of(q), v, by);
}

Tensor LshAttention::whole(const AttentionInput& in, const Hash& hash) const {
  const std::int64_t B = in.x.size(0), T = in.x.size(1), H = config_.heads;
  const Shape by_head{B, T, H, config_.head_features()};
  const Tensor q = reshape(qk_proj(in.x), by_head), v = reshape(v_proj(in.x), by_head);
  const Tensor read = config_.reach == LshReach::mixed
                          ? attend_by_groups(q, v, hash, in)
                          : attend_at_once(q, v, hash, in);  // [B, T, H, D]
  return out_proj(reshape(read, {B, T, H * config_.head_features()}));
}

Tensor LshAttention::operator()(const AttentionInput& in) const {
  check(in);
  return whole(in, hash_of_call());  // [B, T, E]
}

// ---- decoding -----------------------------------------------------------------------------------

class LshAttention::State : public LshState {
 public:
  using LshState::LshState;
};

std::unique_ptr<DecodeState> LshAttention::start(const DecodeStart& from) const {
  refuse_memory("lsh", from.memory);
  return std::make_unique<State>(LshStateSizes{.batch = from.batch,
                                               .heads = config_.heads,
                                               .features = config_.head_features(),
                                               .rounds = evaluation_.rounds,
                                               .buckets = all_buckets(),
                                               .chunk = config_.chunk,
                                               .reach = config_.reach,
                                               .unique = config_.unique,
                                               .dtype = cache_dtype(out_proj.weight.dtype())});
}

// One position, x [B, 1, E].
Tensor LshAttention::step_once(const Tensor& x, State& state) const {
  const std::int64_t B = x.size(0), H = config_.heads, D = config_.head_features();
  const std::int64_t R = evaluation_.rounds;
  const Tensor q = split_heads(qk_proj(x), H);  // [B, H, 1, D]
  state.append(keys_of(q), split_heads(v_proj(x), H),
               lsh_buckets(q, evaluation_.directions, R, config_.factor));
  const LshState::Seen seen = state.seen_by_newest();
  const std::int64_t most = seen.positions.size(3);
  const Tensor ids = expand(reshape(seen.positions, {B, H, R * most, 1}), {B, H, R * most, D});
  const auto chosen = [&](const Tensor& all) {
    return reshape(gather(all, 2, ids), {B, H * R, most, D});  // [B, H R, most, D]
  };
  const Tensor queries = reshape(expand(q, {B, H, R, D}), {B, H * R, 1, D});  // [B, H R, 1, D]
  AttentionSpec spec{.mask = row_intervals(zeros(seen.count.shape(), DType::i64), seen.count)};
  spec.modifiers.push_back(score_mod(
      [bias = seen.bias](auto score, int b, int h, int, int j) {
        const double added =
            bias.template data<double>()[(b * bias.size(1) + h) * bias.size(2) + j];
        return added <= kLshSelfScore ? added : score + added;  // its own score does not count
      },
      [](auto, int, int, int, int) { return 1.0; }));
  const AttentionResult y =
      attention_with_log_sum_exp(queries, chosen(state.keys()), chosen(state.values()), spec);
  const Tensor share = softmax(reshape(y.log_sum_exp, {B, H, R, 1}), 2);  // [B, H, R, 1]
  const Tensor read = sum(reshape(y.output, {B, H, R, D}) * share, {2});  // [B, H, D]
  return out_proj(reshape(read, {B, 1, H * D}));                          // [B, 1, E]
}

// The first positions all at once, x [B, T, E].
Tensor LshAttention::read_prompt(const Tensor& x, State& state) const {
  const Tensor q = split_heads(qk_proj(x), config_.heads);  // [B, H, T, D]
  state.append(keys_of(q), split_heads(v_proj(x), config_.heads),
               lsh_buckets(q, evaluation_.directions, evaluation_.rounds, config_.factor));
  return whole({.x = x, .causal = true}, evaluation_);  // [B, T, E]
}

Tensor LshAttention::step(const Tensor& x, DecodeState& decoding) const {
  check({.x = x});
  if (x.size(1) == 0) return x;
  auto& state = dynamic_cast<State&>(decoding);
  if (state.length() == 0 && x.size(1) > 1) return read_prompt(x, state);
  std::vector<Tensor> made;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    made.push_back(step_once(slice(x, 1, t, t + 1), state));
  }
  return concat(made, 1);  // [B, T, E]
}

}  // namespace heed
