// Relative attention with recurrence over segments (Dai et al. 2019, Transformer-XL):
//   score_ij = ((q_i + u) . k_j + (q_i + v) . r_(i - j)) / sqrt(D),   r_d = W_r sinusoid(d),
// with u and v learned for each head. A segment also attends to the positions of earlier segments.
// With q' = q + u the second product is q' . r + (v - u) . r: these are Shaw's relative keys with a
// table computed from r, and a bias by distance.
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/attention/positions/code_table.h"
#include "heed/attention/spec.h"
#include "heed/nn/linear.h"

namespace heed {

struct TransformerXlConfig {
  std::int64_t embed = 64;
  std::int64_t heads = 4;
  std::int64_t mem_length = 0;  // earlier positions that a causal query attends to; 0: all
  double dropout = 0.0;         // of weights

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters as in the authors' code: "qkv_net.weight" [3 H D, E], "r_net.weight" [H D, E],
/// "o_net.weight" [E, H D], "r_w_bias" (u) and "r_r_bias" (v) [H, D].
class TransformerXlAttention : public AttentionLayer {
 public:
  using Config = TransformerXlConfig;
  explicit TransformerXlAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, Tq, E].
  Tensor operator()(const AttentionInput& in) const override;
  /// One segment x [B, T, E] of a text in training: what a causal call on `earlier` [B, M, E] and x
  /// returns for x. Earlier positions (undefined: none) are visible, but get no gradient.
  Tensor segment(const Tensor& x, const Tensor& earlier) const;

  /// Decoding keeps keys and values, at most mem_length of them if that is limited; each step is a
  /// segment of any length.
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;

  Linear qkv_net, r_net, o_net;
  Tensor r_w_bias, r_r_bias;  // u and v: [H, D]

 private:
  // The terms of distances from -clip to clip: r as keys, and (v - u) . r / sqrt(D).
  struct Relative {
    std::int64_t clip = -1;
    Tensor keys;  // [H, 2 clip + 1, D], in the order of j - i
    Tensor bias;  // [H, 2 clip + 1], in the order of i - j
  };
  class State;

  Tensor project(const Tensor& x, int part) const;
  Tensor project_queries(const Tensor& x) const;  // u is added
  Relative relative(std::int64_t clip, DType dtype) const;
  AttentionSpec spec_of(const AttentionInput& in, const Relative& relative, Corner corner) const;
  Tensor attend(const AttentionInput& in, std::int64_t first) const;
  Tensor step_few(const Tensor& x, State& state) const;

  Config config_;
  CodeTable sinusoids_;  // by j - i
};

inline constexpr Mechanism kTransformerXl = mechanism<TransformerXlAttention>(
    "transformer_xl",
    {.title = "Transformer-XL attention",
     .formula = "softmax(((q_i + u) . k_j + (q_i + v) . W_r s(i - j)) / sqrt(d)) V, s sinusoids, "
                "over this segment and those before",
     .paper = "Dai et al. 2019, Transformer-XL: Attentive Language Models Beyond a Fixed-Length "
              "Context",
     .cost = "n (n + m) d, m positions remembered",
     .composes = "all masks, decoding, observers; it brings its own positions",
     .sample = "mem_length=6"},
    {.decodes = true});

}  // namespace heed
