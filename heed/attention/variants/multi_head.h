// Multi-head attention (Vaswani et al. 2017): heads of queries, keys and values are linear
// projections of x and of the memory; each head attends on its own, and a linear layer combines the
// heads. With fewer key and value heads it is multi-query (Shazeer 2019) or grouped-query attention
// (Ainslie et al. 2023). Restricted, sparse and relative forms derive from it and add stages.
#pragma once

#include <optional>
#include <string_view>

#include "heed/attention/mechanism.h"
#include "heed/attention/spec.h"
#include "heed/attention/variants/multi_head_config.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"

namespace heed {

/// Parameters as in torch.nn.MultiheadAttention: "in_proj_weight" [(H + 2 G) D, E] and
/// "in_proj_bias", "bias_k" and "bias_v" [1, 1, G D], "out_proj". If `joint` is false or the memory
/// has another size, there are "q_proj_weight", "q_proj_bias" and so on instead; PyTorch has one
/// "in_proj_bias" for the three. With `qk_norm` there are "q_norm.weight" and "k_norm.weight" [D].
class MultiHeadAttention : public AttentionLayer {
 public:
  using Config = MultiHeadConfig;
  explicit MultiHeadAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, Tq, E].
  Tensor operator()(const AttentionInput& in) const override;
  bool takes_sequences() const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;
  std::int64_t cache_bytes(const CacheSize& size) const override;

  std::optional<Linear> in_proj;                 // queries, keys and values in one product
  std::optional<Linear> q_proj, k_proj, v_proj;  // or in three
  std::optional<RmsNorm> q_norm, k_norm;         // of the features of a head, before rotation
  Tensor bias_k, bias_v;                         // [1, 1, G D], or undefined
  Linear out_proj;
  std::unique_ptr<Position> position;  // or null

 protected:
  /// Adds the stages of a variant to a call; the soft cap comes after its modifiers.
  virtual void specialise(AttentionSpec&, Corner) const {}
  /// How many earlier positions a decoding step attends to, and so what is kept; none: all. If
  /// specialise() gives a plain window, it is this one.
  virtual std::optional<std::int64_t> reach() const { return {}; }
  /// The layer's name in messages.
  virtual std::string_view name() const { return "multi_head"; }

 private:
  struct Heads {
    Tensor q, k, v;  // [B, H, Tq, D], [B, G, Tk, D], [B, G, Tk, D]
  };
  class State;

  std::int64_t kv_heads() const { return config_.kv_heads > 0 ? config_.kv_heads : config_.heads; }
  std::int64_t query_size() const { return config_.heads * config_.head_size; }  // H D
  std::int64_t kv_size() const { return kv_heads() * config_.head_size; }        // G D
  bool has_extra_keys() const { return config_.bias_kv || config_.zero_attn; }
  void make_projections(Generator& generator);
  Tensor activated(const Tensor& x) const { return activate(config_.qkv_activation, x); }
  Tensor queries(const Tensor& x) const;
  Tensor keys(const Tensor& memory) const;
  Tensor values(const Tensor& memory) const;
  Heads project(const AttentionInput& in) const;
  AttentionSpec spec_of(const AttentionInput& in, Corner corner, bool drops = true) const;
  void add_extra_keys(Heads& heads, AttentionSpec& spec) const;
  Tensor attend(const AttentionInput& in) const;
  Tensor attend_sequences(const AttentionInput& in) const;
  bool can_page(bool of_memory) const;
  const Tensor& bias_of(State& state, std::int64_t positions) const;
  Tensor step_paged(const Tensor& x, State& state) const;
  Tensor step_few(const Tensor& x, State& state) const;

  Config config_;
};

inline constexpr Mechanism kMultiHead = mechanism<MultiHeadAttention>(
    "multi_head",
    {.title = "Multi-head attention",
     .formula = "concat_h(softmax(Q_h K_h^T / sqrt(d)) V_h) W_O",
     .paper = "Vaswani et al. 2017, Attention Is All You Need; grouped heads: Ainslie et al. 2023",
     .cost = "n^2 d",
     .composes = kWithEverything},
    {.decodes = true});

}  // namespace heed
