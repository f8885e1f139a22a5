// Layers that turn a sequence into one of the same length and width, with one interface:
// convolution, recurrence, and the attention mechanisms of the registry. The modules are in
// nn/conv.h, nn/rnn.h and attention/layer.h.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/random.h"
#include "heed/nn/module.h"

namespace heed {

class SequenceLayer : public Module {
 public:
  /// x [B, T, E] -> [B, T, E].
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// The same for positions that are separate tensors, [B, 1, E] each. A layer that must work step
  /// by step does so here, and the tape shows each step; any other is called once.
  virtual std::vector<Tensor> on_positions(std::span<const Tensor> x) const;
  /// The name on the tape of the op that combines positions; empty if there are several.
  virtual std::string_view op() const = 0;

 protected:
  SequenceLayer() = default;
};

/// Makes a layer by name: "conv1d" (options embed, kernel, dilation; causal), "gru", "lstm"
/// (embed), or an attention mechanism of form "sequence" that attends to x itself, with its own
/// options.
std::unique_ptr<SequenceLayer> make_sequence_layer(std::string_view name,
                                                   std::span<const std::string> options,
                                                   Generator& generator = default_generator());
std::unique_ptr<SequenceLayer> make_sequence_layer(std::string_view name,
                                                   std::initializer_list<std::string> options = {},
                                                   Generator& generator = default_generator());

}  // namespace heed
