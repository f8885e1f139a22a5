// The config of a Transformer block: attention and a feed-forward network, each with a residual
// connection and a norm. Every model of Transformer layers contains one; a layer is built from it.
//
//   A Llama-like block: {.kv_heads = 4, .norm = {.kind = NormKind::rms, .first = true},
//                        .activation = FeedForwardKind::swiglu, .bias = false, .positions = "rope"}
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention/choice.h"
#include "heed/nn/activation.h"
#include "heed/nn/norm.h"

namespace heed {

/// The activation of a feed-forward network; the last three are gated (Shazeer 2020) and have three
/// linear layers instead of two.
enum class FeedForwardKind : std::uint8_t {
  relu,
  gelu,
  gelu_tanh,
  silu,
  swiglu,
  geglu,
  geglu_tanh,
};

/// One row per kind: its name in configs, its function, and whether it is gated.
struct FeedForwardEntry {
  FeedForwardKind value;
  std::string_view name;
  Activation activation;
  bool gated;
};
inline constexpr std::array<FeedForwardEntry, 7> kFeedForwardKinds = {
    {{FeedForwardKind::relu, "relu", Activation::relu, false},
     {FeedForwardKind::gelu, "gelu", Activation::gelu, false},
     {FeedForwardKind::gelu_tanh, "gelu_tanh", Activation::gelu_tanh, false},
     {FeedForwardKind::silu, "silu", Activation::silu, false},
     {FeedForwardKind::swiglu, "swiglu", Activation::silu, true},
     {FeedForwardKind::geglu, "geglu", Activation::gelu, true},
     {FeedForwardKind::geglu_tanh, "geglu_tanh", Activation::gelu_tanh, true}}};

/// The names that configs use.
constexpr const std::array<FeedForwardEntry, 7>& enum_names(FeedForwardKind) {
  return kFeedForwardKinds;
}
constexpr std::array<io::EnumName<NormKind>, 2> enum_names(NormKind) {
  return {{{NormKind::layer, "layer"}, {NormKind::rms, "rms"}}};
}

/// The norms of a block.
struct BlockNorm {
  NormKind kind = NormKind::layer;
  bool first = false;              // before attention and feed-forward (pre-norm), or after them
  bool both = false;               // if first: their outputs have norms too, before the sum
  double eps = 1e-5;               // added to the variance
  std::optional<bool> final = {};  // a norm after the last layer; none: if norms come first
};

/// The most layers of a stack, and the most features or heads, that a config may have: far more
/// than is useful, and few enough that products of them do not overflow.
inline constexpr std::int64_t kMaxLayers = 10'000;
inline constexpr std::int64_t kMaxFeatures = 1'000'000;

struct BlockConfig {
  std::int64_t embed = 512;
  std::int64_t heads = 8;
  std::int64_t kv_heads = 0;   // 0: as many as heads
  std::int64_t head_size = 0;  // 0: embed / heads
  std::int64_t hidden = 0;     // of the feed-forward network; 0: four times embed
  BlockNorm norm = {};
  FeedForwardKind activation = FeedForwardKind::relu;
  bool bias = true;
  double dropout = 0.1;                           // of residual branches and embeddings
  std::optional<double> attention_dropout = {};   // of attention weights; none: as dropout
  std::optional<double> activation_dropout = {};  // in the feed-forward network; none: as dropout
  AttentionChoice attention = {};
  AttentionChoice cross_attention = {};  // of decoder layers; models that have them name its key
  PositionChoice positions = "sinusoidal";
  bool shared_positions = false;  // all layers use the position parameters of the first one
  /// One letter per layer, repeated as often as needed: 'G' has the attention and positions above,
  /// 'L' (local) those below. Empty: all layers are alike.
  std::string layer_pattern = {};
  std::optional<AttentionChoice> local_attention = {};  // none: as attention
  std::optional<PositionChoice> local_positions = {};   // none: as positions

  /// All but cross_attention, as keys of the model's own section.
  void fields(io::Fields& field);
  /// Throws unless sizes and probabilities fit.
  void validate() const;

  std::int64_t hidden_size() const { return hidden > 0 ? hidden : 4 * embed; }
  /// The self-attentions of the layers: the block's and, if there are local layers, theirs.
  std::vector<AttentionChoice> self_attentions() const;
  /// The block of one layer of a stack: local options have taken the place of the others.
  BlockConfig of_layer(std::int64_t layer) const;
  bool has_final_norm() const { return norm.final.value_or(norm.first); }
  NormConfig norm_config() const {
    return {.kind = norm.kind, .size = embed, .eps = norm.eps, .bias = bias};
  }
  /// The self-attention of a layer, with the sizes and the positions of the block.
  AttentionChoice self_attention_of_layer() const;
  /// The cross-attention of a decoder layer; positions do not apply to it.
  AttentionChoice cross_attention_of_layer() const;
};

/// What a place in a model needs of a mechanism.
struct AttentionPlace {
  std::string_view key;  ///< Of the config, such as "decoder_attention".
  bool cross = false;    ///< Attends to a memory rather than to its own input.
  bool causal = false;
};

/// Throws unless the mechanism maps a sequence to a sequence, and can be used at the place.
void check_attention(std::string_view model, const AttentionPlace& place,
                     const AttentionChoice& attention);

/// Throws if an option of the block that differs from the model's default has no effect, since no
/// attention of the model takes it.
void check_used(std::string_view model, const BlockConfig& block, const BlockConfig& defaults,
                std::span<const AttentionChoice> attentions);

}  // namespace heed
