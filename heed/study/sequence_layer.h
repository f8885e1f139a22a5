// Layers that turn a sequence into one of the same length and width, behind one call: convolution,
// recurrence, and the attention mechanisms of the registry. What they are as modules of their own:
// nn/conv.h, nn/rnn.h, attention/layer.h.
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
  /// The same for positions that are tensors of their own, [B, 1, E] each. A layer that cannot but
  /// go step by step does so here, and the tape shows each step; any other is called once.
  virtual std::vector<Tensor> on_positions(std::span<const Tensor> x) const;
  /// The tape's name of the op in which positions meet; empty if it is several.
  virtual std::string_view op() const = 0;

 protected:
  SequenceLayer() = default;
};

/// A layer by name: "conv1d" (options embed, kernel, dilation; position t sees none behind it),
/// "gru", "lstm" (embed), or an attention mechanism that has form "sequence" and asks x itself,
/// with its own options.
std::unique_ptr<SequenceLayer> make_sequence_layer(std::string_view name,
                                                   std::span<const std::string> options,
                                                   Generator& generator = default_generator());
std::unique_ptr<SequenceLayer> make_sequence_layer(std::string_view name,
                                                   std::initializer_list<std::string> options = {},
                                                   Generator& generator = default_generator());

}  // namespace heed
