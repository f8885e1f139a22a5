// Stacks of Transformer layers: what encoders, decoders, language models and classifiers are made
// of. What they are not: embeddings and outputs, which the models add.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/models/transformer_layer.h"

namespace heed {

struct StackConfig {
  std::int64_t layers = 6;
  TransformerLayerConfig layer = {};
  bool norm = false;  // one more behind the last layer; pre-norm stacks need it
};

/// What every layer of a stack remembers while decoding.
struct StackState {
  std::vector<std::unique_ptr<DecodeState>> layers;

  /// Sequence i becomes what sequence from[i] was.
  void reorder(std::span<const std::int64_t> from);
};

/// Parameters "layers.0" …, "norm", as in torch.nn.TransformerEncoder.
class EncoderStack : public Module {
 public:
  explicit EncoderStack(const StackConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E]; `weights` gets one entry a layer.
  Tensor operator()(AttentionInput in, std::vector<LayerWeights>* weights = nullptr) const;

  /// Starts decoding, for stacks that are asked causally.
  StackState start(std::int64_t batch) const;
  /// The next positions [B, T, E] -> [B, T, E].
  Tensor step(Tensor x, StackState& state) const;

  std::vector<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;
};

/// Parameters "layers.0" …, "norm", as in torch.nn.TransformerDecoder.
class DecoderStack : public Module {
 public:
  explicit DecoderStack(const StackConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E]; `weights` gets one entry a layer.
  Tensor operator()(DecoderLayerInput in, std::vector<LayerWeights>* weights = nullptr) const;

  /// Starts decoding with what the encoder made.
  StackState start(const DecodeStart& from) const;
  /// The next positions [B, T, E] -> [B, T, E].
  Tensor step(Tensor x, StackState& state) const;

  std::vector<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;
};

}  // namespace heed
