// A stack of reversible Transformer layers (Kitaev, Kaiser and Levskaya 2020, Reformer): two
// streams, of which one is changed by attention and the other by a feed-forward network,
//
//   y1 = x1 + dropout(attention(norm1(x2))),  y2 = x2 + dropout(feed_forward(norm2(y1)))
//
// and a norm of both together. Layers of a decoder have three parts: attention to a memory comes
// between the two. Parts change the streams in turn, so the first part of the second layer is added
// to y2. heed/nn/reversible.h says what this saves.
#pragma once

#include <array>
#include <vector>

#include "heed/models/stack.h"
#include "heed/nn/reversible.h"

namespace heed {

/// What becomes of the activations that the backward pass needs.
enum class Activations : std::uint8_t {
  reversible,    ///< The last layer's outputs are kept; the others are computed back from them.
  checkpointed,  ///< The inputs of each part are kept, and the part is computed again.
  kept,          ///< All are kept.
};

/// The names that configs use.
constexpr std::array<io::EnumName<Activations>, 3> enum_names(Activations) {
  return {{{Activations::reversible, "reversible"},
           {Activations::checkpointed, "checkpointed"},
           {Activations::kept, "kept"}}};
}

/// What the last norm reads.
enum class StreamJoin : std::uint8_t {
  both,  ///< Both streams side by side, 2 E features (Reformer as a language model).
  mean,  ///< Their mean, E features (Trax's Reformer of an encoder and a decoder).
};

struct ReversibleStackConfig {
  std::vector<BlockConfig> blocks = {};  // one for each layer, all of the same size
  std::int64_t feed_forward_rows = 0;    // positions in the feed-forward network at a time; 0: all
  Activations activations = Activations::reversible;
  LayerKind kind = LayerKind::encoder;
  StreamJoin join = StreamJoin::both;
};

/// Parameters "layers.0" … as those of TransformerLayer, and "norm" of 2 E or, with the
/// mean, E features, which are F below.
class ReversibleStack : public Module {
 public:
  explicit ReversibleStack(const ReversibleStackConfig& config,
                           Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E], which both streams begin with -> [B, T, F]; `weights`, if not null, receives
  /// one entry per layer.
  Tensor operator()(const LayerInput& in, std::vector<LayerWeights>* weights = nullptr) const;

  /// Starts decoding; throws if one of the attentions cannot.
  StackState start(const DecodeStart& from) const;
  /// Bytes that decoding keeps for one sequence of so many positions and positions of the memory.
  std::int64_t cache_bytes(std::int64_t positions, std::int64_t memory, CacheForm form) const;
  /// The next positions [B, T, E] -> [B, T, F].
  Tensor step(const Tensor& x, StackState& state) const;

  std::vector<TransformerLayer> layers;
  Norm norm;

 private:
  Tensor feed(const TransformerLayer& layer, const Tensor& y) const;
  void add_steps(const TransformerLayer& layer, const LayerInput& in,
                 std::vector<ReversibleStep>& steps) const;
  Tensor normed(const Streams& y) const;

  std::int64_t feed_forward_rows_;
  Activations activations_;
  StreamJoin join_;
};

}  // namespace heed
