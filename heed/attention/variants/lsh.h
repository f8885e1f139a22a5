// LSH attention (Kitaev, Kaiser and Levskaya 2020, Reformer): queries serve as keys, scaled to
// length 1. Positions are sorted by bucket (lsh_order.h), and a query attends to the keys of its
// bucket that are near it in this order. This is one interval of keys for each query, so the tile
// kernel skips the rest.
#pragma once

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
  double dropout = 0.0;  // of weights

  void fields(io::Fields& field);
  void validate() const;
};

/// Rounds of hashing are combined by their log-sum-exp, out = sum_r softmax_r(lse_r) out_r. A key
/// that is visible in several rounds counts several times; the paper's formula divides by the
/// number of rounds, at the price of comparing all rounds for each pair. A position attends to
/// itself only if it has no other visible key. The directions come from the seed alone and stay the
/// same for the life of the layer. If causal, later positions can change the place of a position in
/// the order, and so the rounding of sums, but not which keys it attends to. Parameters "qk_proj",
/// "v_proj" and "out_proj".
class LshAttention : public AttentionLayer {
 public:
  using Config = LshConfig;
  explicit LshAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, T, E].
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;

  Linear qk_proj, v_proj, out_proj;

 private:
  class State;
  /// All heads and rounds, with their positions sorted.
  struct Sorted {
    Tensor q, k, v;  // [B, rounds H, T, D]
    AttentionSpec spec;
    Tensor back;   // i64 [rounds, B, T, H]: the row of each position among all sorted rows
    Tensor place;  // i64 [B, rounds, H, T]
  };

  std::int64_t head_size() const { return config_.embed / config_.heads; }
  void check(const AttentionInput& in) const;
  AttentionSpec spec_of(const Mask& mask, bool self_first) const;
  Tensor weights_of(const Sorted& s, const Tensor& by_place, const Tensor& lse) const;
  Tensor buckets_of(const Tensor& qk) const;
  Sorted sort(const AttentionInput& in) const;
  Tensor step_once(const Tensor& x, State& state) const;

  Config config_;
  Tensor directions_;  // f32 [H, D, rounds buckets / 2]
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
