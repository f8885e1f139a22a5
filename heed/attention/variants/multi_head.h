// Multi-head attention (Vaswani et al. 2017): heads of queries, keys and values by linear maps of
// x and of the memory, attention in each, and a linear map of all of them together. With fewer key
// and value heads: multi-query (Shazeer 2019) and grouped-query attention (Ainslie et al. 2023).
// Restricted, sparse and relative forms derive from it and add stages.
#pragma once

#include <array>
#include <optional>

#include "heed/attention/mechanism.h"
#include "heed/attention/position.h"
#include "heed/attention/spec.h"
#include "heed/nn/linear.h"

namespace heed {

struct MultiHeadConfig {
  std::int64_t embed = 64;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 0;      // 0: as many as heads
  std::int64_t memory_embed = 0;  // 0: as embed
  bool bias = true;
  bool bias_kv = false;    // one learned key and value more, which every query sees
  bool zero_attn = false;  // one key and value of zeros more
  double dropout = 0.0;    // of weights
  PositionConfig position = {};

  void fields(io::Fields& field);
  void validate() const;
};

/// The config, which is good or else throws: for what a constructor makes before its body.
template <typename Config>
const Config& valid(const Config& config) {
  config.validate();
  return config;
}

/// Parameters as in torch.nn.MultiheadAttention: "in_proj_weight" [(H + 2 G) D, E] and
/// "in_proj_bias" (or "q_proj_weight", "k_proj_weight" and "v_proj_weight" if the memory has
/// another size), "bias_k" and "bias_v" [1, 1, G D], "out_proj". Keys and values are made of one
/// memory: PyTorch's kdim and vdim are both memory_embed.
class MultiHeadAttention : public AttentionLayer {
 public:
  using Config = MultiHeadConfig;
  explicit MultiHeadAttention(const Config& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// [B, Tq, E].
  Tensor operator()(const AttentionInput& in) const override;
  Tensor weights(const AttentionInput& in) const override;
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const override;
  Tensor step(const Tensor& x, DecodeState& state) const override;

  Tensor in_proj_weight, in_proj_bias;
  Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  Tensor bias_k, bias_v;  // [1, 1, G D], or undefined
  Linear out_proj;
  std::unique_ptr<Position> position;  // or null

 protected:
  /// Adds what is the variant's own to a call, whose diagonal lies at that corner.
  virtual void specialise(AttentionSpec&, Corner) const {}
  /// How far back a position sees when decoding, and so what must be kept; none: to the start.
  virtual std::optional<std::int64_t> reach() const { return {}; }
  /// How the layer is called in messages.
  virtual std::string_view name() const { return "multi_head"; }

 private:
  struct Heads {
    Tensor q, k, v;  // [B, H, Tq, D], [B, G, Tk, D], [B, G, Tk, D]
  };
  struct Map;
  class State;

  std::int64_t kv_heads() const { return config_.kv_heads > 0 ? config_.kv_heads : config_.heads; }
  std::int64_t head_size() const { return config_.embed / config_.heads; }
  bool has_extra_keys() const { return config_.bias_kv || config_.zero_attn; }
  std::array<Map, 3> maps() const;
  Heads project(const AttentionInput& in) const;
  AttentionSpec spec_of(const AttentionInput& in, Corner corner) const;
  void add_extra_keys(Heads& heads, AttentionSpec& spec) const;
  Tensor attend(const AttentionInput& in, std::vector<Observer> observers) const;
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
