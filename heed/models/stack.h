// A stack of Transformer layers: what encoders, decoders, language models and classifiers are made
// of. Embeddings and outputs are in the models.
#pragma once

#include <optional>
#include <vector>

#include "heed/models/transformer_layer.h"

namespace heed {

struct StackConfig {
  std::int64_t layers = 6;
  BlockConfig block = {};
  LayerKind kind = LayerKind::encoder;
};

/// The decoding state of every layer of a stack.
struct StackState {
  std::vector<LayerState> layers;

  /// Sequence i becomes what sequence from[i] was.
  void reorder(std::span<const std::int64_t> from);
  /// Whether sequences of another state of the stack may join, whatever their lengths.
  bool can_join() const;
  /// Copies the sequences of another state of the stack to the end of its own.
  void join(const StackState& other);
  /// Each later step writes its attention weights to `to`, one entry per layer.
  void observe(std::vector<LayerWeights>& to, ObservedWeights what);
};

/// Parameters "layers.0" …, "norm", as in torch.nn.TransformerEncoder and TransformerDecoder.
class Stack : public Module {
 public:
  explicit Stack(const StackConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, T, E] -> [B, T, E]; `weights`, if not null, receives one entry per layer.
  Tensor operator()(LayerInput in, std::vector<LayerWeights>* weights = nullptr) const;

  /// Starts decoding; throws if one of the attentions cannot.
  StackState start(const DecodeStart& from) const;
  /// Bytes that decoding keeps for one sequence of so many positions and positions of the memory.
  std::int64_t cache_bytes(std::int64_t positions, std::int64_t memory, CacheForm form) const;
  /// The next positions [B, T, E] -> [B, T, E].
  Tensor step(Tensor x, StackState& state) const;

  std::vector<TransformerLayer> layers;
  std::optional<Norm> norm;
  /// Whether the backward pass computes the activations of each layer again instead of keeping
  /// them (autograd/checkpoint.h): less memory, a third more arithmetic. Gradients have the same
  /// bits, except that of a memory, which is summed in another order.
  bool checkpoints_activations = false;

 private:
  bool can_pack(const LayerInput& in) const;
  Tensor run_packed(LayerInput in) const;
};

/// Switches activation checkpointing of all stacks in a model; returns their number.
int checkpoint_activations(Module& model, bool on = true);

}  // namespace heed
