// Talking-heads attention (Shazeer et al. 2020): learned matrices mix the heads, once their scores
// before the softmax and once their weights after it:
//
//   S_h = Q_h K_h^T / sqrt(d),   A_g = softmax(sum_h P_gh S_h),   W_h = sum_g R_hg A_g,
//
// and head h reads W_h V_h. A mix needs the scores of all heads at once, which the tile kernel
// computes one head at a time: scores and weights are whole matrices here, [B, H, Tq, Tk].
#pragma once

#include "heed/attention/mechanism.h"
#include "heed/nn/dropout.h"
#include "heed/nn/linear.h"

namespace heed {

struct TalkingHeadsConfig {
  std::int64_t embed = 64;
  std::int64_t heads = 4;
  std::int64_t memory_embed = 0;  // 0: as embed
  bool bias = true;
  Activation output_activation = Activation::none;  // f of the output layer, f(W h + b)
  double dropout = 0.0;                             // of the mixed weights

  void fields(io::Fields& field);
  void validate() const;
};

/// Parameters "q_proj", "k_proj", "v_proj", "out_proj", and "mix_scores" (P) and "mix_weights" (R)
/// [H, H], which begin as the identity: multi-head attention. The weights that it shows are those
/// that values are read with; rows need not sum to 1.
class TalkingHeadsAttention : public AttentionLayer {
 public:
  using Config = TalkingHeadsConfig;
  explicit TalkingHeadsAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, Tq, E].
  Tensor operator()(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;
  std::int64_t cache_bytes(const CacheSize& size) const override;

  Linear q_proj, k_proj, v_proj, out_proj;
  Tensor mix_scores, mix_weights;  // [H, H]
  Dropout dropout;

 private:
  class State;
  struct Heads {
    Tensor q, k, v;  // [B, H, Tq, D], [B, H, Tk, D], [B, H, Tk, D]
  };
  Tensor read(const Heads& heads, const Mask& mask, Tensor* weights) const;

  Config config_;
};

inline constexpr Mechanism kTalkingHeads = mechanism<TalkingHeadsAttention>(
    "talking_heads",
    {.title = "Talking-heads attention",
     .formula = "concat_h(W_h V_h) W_O, W_h = sum_g R_hg softmax(sum_k P_gk Q_k K_k^T / sqrt(d))",
     .paper = "Shazeer, Lan, Cheng, Ding and Hou 2020, Talking-Heads Attention",
     .cost = "n^2 (d + heads^2), and heads n^2 numbers of memory",
     .composes = "all masks, decoding, observers"},
    {.decodes = true, .fused = false});

}  // namespace heed
