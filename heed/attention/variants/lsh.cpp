#include "heed/attention/variants/lsh.h"

#include <algorithm>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/cache.h"
#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/attention/stages/observers.h"
#include "heed/attention/stages/score_mod.h"
#include "heed/attention/variants/input_checks.h"
#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/embedding.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/norm.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"

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
}

void LshConfig::validate() const {
  HEED_CHECK(embed % heads == 0, "[lsh] embed {} is not a multiple of heads {}", embed, heads);
  HEED_CHECK(buckets == 1 || buckets % 2 == 0,
             "[lsh] buckets {}: there are two for each direction, so it must be even, or 1",
             buckets);
}

namespace {

// Subtracted from a score if query and key are the same position. As in the paper, it is large
// enough that all other keys win, and small enough that the position still has a weight if there
// are none.
constexpr float kSelfPenalty = 1e5f;

// Keys have length 1, multiplied by the scale 1 / sqrt(D) of scores.
Tensor keys_of(const Tensor& qk) { return rms_norm(qk, {.eps = 1e-6}); }

// Combines the results of the rounds, [..., rounds, D] with log-sum-exp [..., rounds]: [..., D].
Tensor combined(const Tensor& read, const Tensor& log_sum_exp, int axis) {
  if (read.size(axis) == 1) return squeeze(read, axis);
  const Tensor share = unsqueeze(softmax(log_sum_exp, axis), -1);  // [..., rounds, 1]
  return sum(read * share, {axis});
}

// The row of [B, T, H] that holds each place of the order: i64 [B, rounds, H, T].
Tensor rows_in_order(const Tensor& order) {
  const std::int64_t H = order.size(2), T = order.size(3), rounds = order.size(1);
  Tensor rows = empty(order.shape(), DType::i64);  // [B, rounds, H, T]
  for (std::int64_t n = 0; n < order.numel(); ++n) {
    const std::int64_t b = n / (rounds * H * T), h = n / T % H;
    rows.mutable_data<std::int64_t>()[n] = (b * T + order.data<std::int64_t>()[n]) * H + h;
  }
  return rows;
}

// The row of [B, rounds, H, T] that holds each position: i64 [rounds, B, T, H].
Tensor rows_of_positions(const Tensor& place) {
  Tensor rows = empty(place.shape(), DType::i64);  // [B, rounds, H, T]
  for (std::int64_t n = 0, T = place.size(3); n < place.numel(); ++n) {
    rows.mutable_data<std::int64_t>()[n] = n / T * T + place.data<std::int64_t>()[n];
  }
  return contiguous(permute(rows, {1, 0, 3, 2}));  // [rounds, B, T, H]
}

}  // namespace

LshAttention::LshAttention(const Config& config, Generator& generator)
    : qk_proj({.in = config.embed, .out = config.embed, .bias = config.bias}, generator),
      v_proj({.in = config.embed, .out = config.embed, .bias = config.bias}, generator),
      out_proj({.in = config.embed, .out = config.embed, .bias = config.bias}, generator),
      config_(config) {
  config_.validate();
  directions_ = lsh_directions({.heads = config_.heads,
                                .features = head_size(),
                                .rounds = config_.rounds,
                                .buckets = config_.buckets,
                                .seed = static_cast<std::uint64_t>(config_.seed)});
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

// ---- whole sequences ----------------------------------------------------------------------------

// A query is its own key: the one at its place, or the first if `self_first` is set.
AttentionSpec LshAttention::spec_of(const Mask& mask, bool self_first) const {
  AttentionSpec spec{.mask = mask};
  spec.modifiers.push_back(score_mod([self_first](auto score, int, int, int i, int j) {
    return j == (self_first ? 0 : i) ? score - kSelfPenalty : score;
  }));
  if (training() && config_.dropout > 0.0) {
    spec.reweights.push_back(weight_dropout(config_.dropout, default_generator().next()));
  }
  return spec;
}

Tensor LshAttention::buckets_of(const Tensor& qk) const {
  return lsh_buckets(split_heads(qk, config_.heads), directions_, config_.rounds);
}

LshAttention::Sorted LshAttention::sort(const AttentionInput& in) const {
  const std::int64_t B = in.x.size(0), T = in.x.size(1), H = config_.heads, D = head_size();
  const std::int64_t lines = config_.rounds * H;
  const Tensor qk = qk_proj(in.x);  // [B, T, E]
  const LshOrder order =
      lsh_order(buckets_of(qk), in.lengths,
                {.buckets = config_.buckets, .chunk = config_.chunk, .causal = in.causal});
  const Tensor rows = reshape(rows_in_order(order.order), {B, lines, T});  // [B, rounds H, T]
  const auto sorted = [&](const Tensor& x) {
    return embedding(reshape(x, {B * T * H, D}), rows);  // [B, rounds H, T, D]
  };
  const Tensor q = sorted(qk);
  return {.q = q,
          .k = keys_of(q),
          .v = sorted(v_proj(in.x)),
          .spec = spec_of(row_intervals(reshape(order.first, {B, lines, T}),
                                        reshape(order.last, {B, lines, T})),
                          false),
          .back = rows_of_positions(order.place),
          .place = order.place};
}

Tensor LshAttention::operator()(const AttentionInput& in) const {
  check(in);
  Sorted s = sort(in);
  Tensor by_place;  // [B, rounds H, T, T], rows and columns in sorted order
  if (in.weights != nullptr) s.spec.observers.push_back(observe_weights(by_place));
  const AttentionResult y = attention_with_log_sum_exp(s.q, s.k, s.v, s.spec);
  const std::int64_t rows = s.back.numel(), D = head_size();
  const Tensor read = embedding(reshape(y.output, {rows, D}), s.back);      // [rounds, B, T, H, D]
  const Tensor lse = embedding(reshape(y.log_sum_exp, {rows, 1}), s.back);  // [rounds, B, T, H, 1]
  if (in.weights != nullptr) *in.weights = weights_of(s, by_place, lse.detach());
  return out_proj(reshape(combined(read, squeeze(lse, 4), 0), in.x.shape()));  // [B, T, E]
}

// The weights of all rounds, combined like their results: [B, H, T, T].
Tensor LshAttention::weights_of(const Sorted& s, const Tensor& by_place, const Tensor& lse) const {
  const NoGrad no_grad;
  const std::int64_t rounds = config_.rounds, H = config_.heads;
  const std::int64_t B = by_place.size(0), T = by_place.size(2), rows = s.back.numel();
  const Tensor by_row = embedding(reshape(by_place, {rows, T}), s.back);  // [rounds, B, T, H, T]
  const Tensor place = unsqueeze(permute(s.place, {1, 0, 2, 3}), 2);      // [rounds, B, 1, H, T]
  const Tensor all = gather(by_row, 4, expand(place, {rounds, B, T, H, T}));  // columns by position
  return contiguous(transpose(combined(all, squeeze(lse, 4), 0), 1, 2));      // [B, H, T, T]
}

// ---- decoding -----------------------------------------------------------------------------------

// Keys and values of all positions so far, and the positions in each bucket.
class LshAttention::State : public DecodeState {
 public:
  State(const Config& config, std::int64_t batch, DType dtype)
      : cache({.batch = batch,
               .heads = config.heads,
               .features = config.embed / config.heads,
               .dtype = dtype}),
        config_(config),
        held_(static_cast<std::size_t>(batch * lines() * config.buckets)) {}

  void reorder(std::span<const std::int64_t> from) override {
    cache.reorder(from);
    std::vector<std::vector<std::int64_t>> moved;
    for (const std::int64_t b : from) {
      const auto first = held_.begin() + b * lines() * config_.buckets;
      moved.insert(moved.end(), first, first + lines() * config_.buckets);
    }
    held_ = std::move(moved);
  }

  /// The keys visible to the newest position: itself, then the last earlier ones of its bucket.
  struct Seen {
    Tensor positions;  // i64 [B, H, rounds, most]
    Tensor count;      // i64 [B, H rounds, 1]: their number
  };
  /// Puts the newest position into its buckets [B, rounds, H, 1].
  Seen enter(const Tensor& buckets) {
    const std::int64_t B = buckets.size(0), R = config_.rounds, H = config_.heads;
    const std::int64_t newest = cache.length() - 1, most = std::min(config_.chunk, newest) + 1;
    Seen seen{full({B, H, R, most}, static_cast<double>(newest), DType::i64),
              empty({B, H * R, 1}, DType::i64)};
    for (std::int64_t n = 0; n < B * H * R; ++n) {
      const std::int64_t line = n / (H * R) * lines() + n % R * H + n / R % H;  // of [B, R, H]
      const std::int64_t bucket = buckets.data<std::int64_t>()[line];
      auto& held = held_[static_cast<std::size_t>(line * config_.buckets + bucket)];
      const auto before = std::min(config_.chunk, static_cast<std::int64_t>(held.size()));
      std::copy(held.end() - before, held.end(),
                seen.positions.mutable_data<std::int64_t>() + n * most + 1);
      seen.count.mutable_data<std::int64_t>()[n] = before + 1;
      held.push_back(newest);
    }
    return seen;
  }

  KvCache cache;

 private:
  std::int64_t lines() const { return config_.rounds * config_.heads; }

  const Config config_;
  std::vector<std::vector<std::int64_t>> held_;  // positions, by sequence, line and bucket
};

std::unique_ptr<DecodeState> LshAttention::start(const DecodeStart& from) const {
  refuse_memory("lsh", from.memory);
  return std::make_unique<State>(config_, from.batch, cache_dtype(out_proj.weight.dtype()));
}

// One position, x [B, 1, E].
Tensor LshAttention::step_once(const Tensor& x, State& state) const {
  const std::int64_t B = x.size(0), H = config_.heads, D = head_size(), R = config_.rounds;
  const Tensor qk = qk_proj(x);         // [B, 1, E]
  const Tensor q = split_heads(qk, H);  // [B, H, 1, D]
  state.cache.append(keys_of(q), split_heads(v_proj(x), H));
  const State::Seen seen = state.enter(buckets_of(qk));
  const std::int64_t most = seen.positions.size(3);
  const Tensor ids = expand(reshape(seen.positions, {B, H, R * most, 1}), {B, H, R * most, D});
  const auto chosen = [&](const Tensor& all) {
    return reshape(gather(all, 2, ids), {B, H * R, most, D});  // [B, H R, most, D]
  };
  const Tensor queries = reshape(expand(q, {B, H, R, D}), {B, H * R, 1, D});  // [B, H R, 1, D]
  const Mask mask = row_intervals(zeros(seen.count.shape(), DType::i64), seen.count);
  const AttentionResult y = attention_with_log_sum_exp(
      queries, chosen(state.cache.keys()), chosen(state.cache.values()), spec_of(mask, true));
  const Tensor read =
      combined(reshape(y.output, {B, H, R, D}), reshape(y.log_sum_exp, {B, H, R}), 2);  // [B, H, D]
  return out_proj(reshape(read, {B, 1, H * D}));                                        // [B, 1, E]
}

Tensor LshAttention::step(const Tensor& x, DecodeState& state) const {
  check({.x = x});
  if (x.size(1) == 0) return x;
  std::vector<Tensor> made;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    made.push_back(step_once(slice(x, 1, t, t + 1), dynamic_cast<State&>(state)));
  }
  return concat(made, 1);  // [B, T, E]
}

}  // namespace heed
