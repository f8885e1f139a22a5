// LSH attention (Kitaev, Kaiser and Levskaya 2020, Reformer): queries serve as keys, scaled to
// length 1. Positions are sorted by bucket (lsh_order.h), and a query attends to the keys of its
// bucket that are near it in this order. This is one interval of keys for each query, so the tile
// kernel skips the rest.
#pragma once

#include <optional>

#include "heed/attention/mechanism.h"
#include "heed/attention/spec.h"
#include "heed/attention/variants/lsh_order.h"
#include "heed/nn/linear.h"

namespace heed {

struct LshConfig {
  std::int64_t embed = 64;
  std::int64_t heads = 4;
  std::int64_t buckets = 16;  // 1, or even; about n / chunk of them make full chunks
  std::int64_t chunk =
      64;  // sorted positions in a chunk; a chunk attends to itself and to the one before
  std::int64_t rounds = 4;
  std::int64_t seed = 0;  // seed of the directions
  bool bias = true;
  double dropout = 0.0;                             // of weights
  std::int64_t head_size = 0;                       // 0: embed / heads
  Activation output_activation = Activation::none;  // f of the output layer, f(W h + b)
  std::int64_t factor = 1;  // buckets are pairs: `buckets` values of one hash, these of another
  std::optional<std::int64_t> evaluation_rounds = {};  // none: as rounds
  bool redraw = false;  // training draws new directions at every step
  LshReach reach = LshReach::bucket;
  bool unique = false;             // a pair that several rounds find counts once
  std::int64_t heads_at_once = 0;  // 0: all

  void fields(io::Fields& field);
  void validate() const;
  std::int64_t head_features() const { return head_size > 0 ? head_size : embed / heads; }
};

/// Rounds of hashing are combined by their log-sum-exp, out = sum_r softmax_r(lse_r) out_r. If
/// `unique`, a key that is visible in several rounds counts once, as in the paper; else it counts
/// several times. A position attends to itself only if it has no other visible key. Evaluation
/// takes its directions from the seed; so does training unless `redraw` is set, and then they come
/// from the default generator. If causal, later positions can change the place of a position in the
/// order, and so the rounding of sums, but not which keys it attends to (LshReach::bucket; the
/// other ways are as published). Parameters "qk_proj", "v_proj" and "out_proj"; their shapes do not
/// depend on rounds and buckets.
class LshAttention : public AttentionLayer {
 public:
  using Config = LshConfig;
  explicit LshAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, T, E].
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  /// With LshReach::bucket equal to the causal call at these positions. Otherwise equal to the last
  /// position of a call on the positions so far, since chunks move with each new position.
  Tensor step(const Tensor& x, DecodeState& state) const override;

  /// Replaces the directions of evaluation, f32 [H, D, rounds (buckets + factor) / 2], for
  /// comparisons with other programs.
  void set_directions(const Tensor& directions);

  Linear qk_proj, v_proj, out_proj;

 private:
  class State;
  /// The directions of a call.
  struct Hash {
    std::int64_t rounds;
    Tensor directions;  // f32 [H, D, rounds width]
  };
  struct Sorted;

  std::int64_t all_buckets() const { return config_.buckets * config_.factor; }
  void check(const AttentionInput& in) const;
  LshDirections directions_of(std::int64_t rounds) const;
  Hash hash_of_call() const;
  void add_dropout(AttentionSpec& spec) const;
  void sort_keys(const Tensor& q, const Tensor& v, const AttentionInput& in, Sorted& s) const;
  LshOrder order_of(const Tensor& q, const Hash& hash, const AttentionInput& in) const;
  Sorted sort(const Tensor& q, const Tensor& v, const Hash& hash, const AttentionInput& in) const;
  Tensor attend(const Tensor& q, const Tensor& v, const Hash& hash, const AttentionInput& in) const;
  Tensor attend_by_groups(const Tensor& q, const Tensor& v, const Hash& hash,
                          const AttentionInput& in) const;
  Tensor attend_at_once(const Tensor& q, const Tensor& v, const Hash& hash,
                        const AttentionInput& in) const;
  Tensor whole(const AttentionInput& in, const Hash& hash) const;
  Tensor step_once(const Tensor& x, State& state) const;
  Tensor read_prompt(const Tensor& x, State& state) const;

  Config config_;
  Hash training_, evaluation_;
};

inline constexpr Mechanism kLsh = mechanism<LshAttention>(
    "lsh",
    {.title = "LSH attention (Reformer)",
     .formula = "sum_r softmax_r(lse_r) softmax(Q_P K_P^T) V_P, P_i = {j: hash_r(q_j) = "
                "hash_r(q_i)}, k = q / |q|",
     .paper = "Kitaev, Kaiser and Levskaya 2020, Reformer: The Efficient Transformer",
     .cost = "rounds n (2 chunk d + buckets d / 2)",
     .composes = "lengths, causal, decoding",
     .sample = "buckets=4 chunk=4 rounds=2"},
    {.cross = false, .mask = false, .decodes = true, .growth = 1.0});

}  // namespace heed
