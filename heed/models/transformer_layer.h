// The Transformer layer (Vaswani et al. 2017): self-attention, cross-attention in decoders, and a
// feed-forward network, each with a residual connection and a norm, after it (post-norm) or before
// it (pre-norm, Xiong et al. 2020). Embeddings, positions and the stack of layers are in the
// models.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/models/block.h"
#include "heed/models/decoding.h"
#include "heed/nn/dropout.h"
#include "heed/nn/feed_forward.h"

namespace heed {

/// The input of a layer, and of a stack of layers.
struct LayerInput {
  Tensor x;                         ///< [B, T, E].
  Tensor lengths = {};              ///< i64 [B]: valid positions of x; undefined: all.
  bool causal = false;              ///< Position i of x attends only to positions j <= i of x.
  Mask mask = {};                   ///< Which positions of x they may attend to, besides.
  Tensor memory = {};               ///< Output of an encoder, [B, S, E], for decoder layers.
  Tensor memory_lengths = {};       ///< i64 [B]: valid positions of the memory; undefined: all.
  Mask memory_mask = {};            ///< Which positions of the memory they may attend to.
  LayerWeights* weights = nullptr;  ///< If not null, receives the attention weights.
  const PackedLengths* sequences = nullptr;  ///< x is [1, N, E]: AttentionInput::sequences.
};

/// The decoding state of one layer.
struct LayerState {
  std::unique_ptr<DecodeState> self;
  std::unique_ptr<DecodeState> cross;  // null in layers without cross-attention

  /// Sequence i becomes what sequence from[i] was.
  void reorder(std::span<const std::int64_t> from);
  /// Whether sequences of another state of the layer may join, whatever their lengths.
  bool can_join() const { return self->can_join() && (!cross || cross->can_join()); }
  /// Copies the sequences of another state of the layer to the end of its own.
  void join(const LayerState& other);
  /// Each later step writes its attention weights to `to`.
  void observe(LayerWeights& to, ObservedWeights what);
};

/// The feed-forward network of a layer, plain or gated. Its parameters stand among the layer's own.
class LayerFeedForward : public Module {
 public:
  LayerFeedForward(const BlockConfig& config, Generator& generator);

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E].
  Tensor operator()(const Tensor& x) const { return plain ? (*plain)(x) : (*gated)(x); }

  std::optional<FeedForward> plain;
  std::optional<GatedFeedForward> gated;
};

/// Whether a layer attends to a memory too.
enum class LayerKind : std::uint8_t { encoder, decoder };

/// Parameters as in torch.nn.TransformerEncoderLayer and TransformerDecoderLayer: "self_attn",
/// "multihead_attn" (decoder), "linear1", "linear2" (or "gate_proj", "up_proj", "down_proj"),
/// "norm1", "norm2", "norm3" (decoder), and "post_norm1" … if outputs have norms too. An encoder
/// layer with causal input is a layer of a language model.
class TransformerLayer : public Module {
 public:
  explicit TransformerLayer(const BlockConfig& config, LayerKind kind = LayerKind::encoder,
                            Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E].
  Tensor operator()(const LayerInput& in) const;

  /// The self-attention, and the attention to the memory, of x instead of in.x: without norms,
  /// dropout and residual sums.
  Tensor attend(const Tensor& x, const LayerInput& in) const;
  Tensor attend_memory(const Tensor& x, const LayerInput& in) const;
  /// Throws unless there is a memory in decoder layers, and none in encoder layers.
  void check_memory(const Tensor& memory) const;

  /// Starts decoding; throws if one of the attentions cannot.
  LayerState start(const DecodeStart& from) const;
  /// Bytes that decoding keeps for one sequence of so many positions and positions of the memory.
  std::int64_t cache_bytes(std::int64_t positions, std::int64_t memory, CacheForm form) const;
  /// The next positions [B, T, E] -> [B, T, E]: equal to the causal call at these positions.
  Tensor step(const Tensor& x, LayerState& state) const;

  std::unique_ptr<AttentionLayer> self_attn;
  std::unique_ptr<AttentionLayer> multihead_attn;  // to the memory; null in encoder layers
  LayerFeedForward feed_forward;
  std::vector<Norm> norms;       // one for each part
  std::vector<Norm> post_norms;  // of the outputs of the parts, or empty
  std::vector<Dropout> dropouts;

 private:
  template <typename AttendSelf, typename AttendMemory>
  Tensor run(const Tensor& x, const AttendSelf& attend, const AttendMemory& attend_memory) const;

  bool norm_first_;
};

}  // namespace heed
