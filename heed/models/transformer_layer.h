// The layers of the Transformer (Vaswani et al. 2017): attention and a feed-forward network, each
// with a residual connection and a norm, behind it (post-norm) or in front (pre-norm, Xiong et al.
// 2020). Any mechanism of the registry can attend; multi-head attention does by default. What they
// are not: embeddings, positions and the stack of layers, which models add.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "heed/attention/registry.h"
#include "heed/nn/dropout.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/norm.h"

namespace heed {

/// What stands between a feed-forward network's linear maps; with a gate (Shazeer 2020) it has
/// three of them.
enum class FeedForwardKind : std::uint8_t { relu, gelu, gelu_tanh, silu, swiglu, geglu };

/// The names that configs use.
constexpr std::array<io::EnumName<FeedForwardKind>, 6> enum_names(FeedForwardKind) {
  return {{{FeedForwardKind::relu, "relu"},
           {FeedForwardKind::gelu, "gelu"},
           {FeedForwardKind::gelu_tanh, "gelu_tanh"},
           {FeedForwardKind::silu, "silu"},
           {FeedForwardKind::swiglu, "swiglu"},
           {FeedForwardKind::geglu, "geglu"}}};
}

struct TransformerLayerConfig {
  std::int64_t embed = 512;
  std::int64_t heads = 8;
  std::int64_t hidden = 2048;  // features inside the feed-forward network
  FeedForwardKind activation = FeedForwardKind::relu;
  bool norm_first = false;                        // pre-norm
  double dropout = 0.1;                           // of what is added to x
  std::optional<double> attention_dropout = {};   // of weights; none: as dropout
  std::optional<double> activation_dropout = {};  // inside the network; none: as dropout
  double eps = 1e-5;                              // of the norms
  bool bias = true;
  AttentionChoice self_attention = {};
  AttentionChoice cross_attention = {};  // of decoder layers

  void fields(io::Fields& field);
  void validate() const;
};

/// What positions attended to in one layer: [B, H, T, Tk] each.
struct LayerWeights {
  Tensor self;
  Tensor cross;  // of the memory; undefined in encoders
};

/// The feed-forward network of a layer, of either kind. Its parameters stand among the layer's own.
class LayerFeedForward : public Module {
 public:
  explicit LayerFeedForward(const TransformerLayerConfig& config, Generator& generator);

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E].
  Tensor operator()(const Tensor& x) const { return plain ? (*plain)(x) : (*gated)(x); }

  std::optional<FeedForward> plain;
  std::optional<GatedFeedForward> gated;
};

/// Parameters as in torch.nn.TransformerEncoderLayer: "self_attn", "linear1", "linear2" (or
/// "gate_proj", "up_proj", "down_proj"), "norm1", "norm2". With a causal input it is a layer of a
/// decoder without encoder.
class TransformerEncoderLayer : public Module {
 public:
  using Config = TransformerLayerConfig;
  explicit TransformerEncoderLayer(const Config& config,
                                   Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E]; there must be no memory. Who gives `weights` gets to see them.
  Tensor operator()(const AttentionInput& in, LayerWeights* weights = nullptr) const;

  /// Starts decoding; throws if the attention cannot.
  std::unique_ptr<DecodeState> start(std::int64_t batch) const;
  /// The next positions [B, T, E] -> [B, T, E]: what the causal call gives there.
  Tensor step(const Tensor& x, DecodeState& state) const;

  std::unique_ptr<AttentionLayer> self_attn;
  LayerFeedForward feed_forward;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;

 private:
  template <typename Attend>
  Tensor run(const Tensor& x, const Attend& attend) const;

  bool norm_first_;
};

/// What a decoder layer is asked with.
struct DecoderLayerInput {
  Tensor x;                    ///< [B, T, E].
  Tensor memory;               ///< What the encoder made: [B, S, E].
  Tensor lengths = {};         ///< i64 [B], of x.
  Tensor memory_lengths = {};  ///< i64 [B], of the memory.
  bool causal = true;          ///< Position i of x sees none behind i.
  Mask mask = {};              ///< What positions of x may see of x besides.
  Mask memory_mask = {};       ///< And of the memory.
};

/// Parameters as in torch.nn.TransformerDecoderLayer: "self_attn", "multihead_attn", "linear1",
/// "linear2", "norm1", "norm2", "norm3".
class TransformerDecoderLayer : public Module {
 public:
  using Config = TransformerLayerConfig;
  explicit TransformerDecoderLayer(const Config& config,
                                   Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E].
  Tensor operator()(const DecoderLayerInput& in, LayerWeights* weights = nullptr) const;

  /// Starts decoding with what the encoder made; throws if one of the attentions cannot.
  std::unique_ptr<DecodeState> start(const DecodeStart& from) const;
  /// The next positions [B, T, E] -> [B, T, E]: what the causal call gives there.
  Tensor step(const Tensor& x, DecodeState& state) const;

  std::unique_ptr<AttentionLayer> self_attn;
  std::unique_ptr<AttentionLayer> multihead_attn;  // of the memory
  LayerFeedForward feed_forward;
  LayerNorm norm1, norm2, norm3;
  Dropout dropout1, dropout2, dropout3;

 private:
  class State;
  template <typename AttendSelf, typename AttendMemory>
  Tensor run(const Tensor& x, const AttendSelf& attend, const AttendMemory& attend_memory) const;

  bool norm_first_;
};

}  // namespace heed
