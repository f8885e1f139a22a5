// A stack of reversible Transformer layers (Kitaev, Kaiser and Levskaya 2020, Reformer): two
// streams, of which one is changed by attention and the other by a feed-forward network,
//
//   y1 = x1 + dropout(attention(norm1(x2))),  y2 = x2 + dropout(feed_forward(norm2(y1)))
//
// and a norm of both together. heed/nn/reversible.h says what this saves.
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

struct ReversibleStackConfig {
  std::vector<BlockConfig> blocks = {};  // one for each layer, all of the same size
  std::int64_t feed_forward_rows = 0;    // positions in the feed-forward network at a time; 0: all
  Activations activations = Activations::reversible;
};

/// Parameters "layers.0" … as those of TransformerLayer, and "norm" of 2 E features.
class ReversibleStack : public Module {
 public:
  explicit ReversibleStack(const ReversibleStackConfig& config,
                           Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E], which both streams begin with -> [B, T, 2 E]; `weights`, if not null, receives
  /// one entry per layer.
  Tensor operator()(const LayerInput& in, std::vector<LayerWeights>* weights = nullptr) const;

  /// Starts decoding; throws if one of the attentions cannot.
  StackState start(const DecodeStart& from) const;
  /// Bytes that decoding keeps for one sequence of so many positions.
  std::int64_t cache_bytes(std::int64_t positions, CacheForm form) const;
  /// The next positions [B, T, E] -> [B, T, 2 E].
  Tensor step(const Tensor& x, StackState& state) const;

  std::vector<TransformerLayer> layers;
  Norm norm;

 private:
  Tensor feed(const TransformerLayer& layer, const Tensor& y) const;
  ReversibleLayer parts_of(const TransformerLayer& layer, const LayerInput& in,
                           LayerWeights* weights) const;

  std::int64_t feed_forward_rows_;
  Activations activations_;
};

}  // namespace heed
