// Attention weights with gradient, for models whose results are weights, such as those that copy
// words of a source. A layer computes them in a second pass over its scores, without dropout.
//
//   const TrackedWeights tracked(layer);
//   const Tensor y = layer({.x = x, .memory = memory});
//   tracked.weights;  // [B, H, Tq, Tk]
#pragma once

#include "heed/attention/layer.h"

namespace heed {

/// While it lives, calls of a layer on this thread also give their weights. Layers that project
/// heads (multi_head and what derives from it) do so.
class TrackedWeights {
 public:
  explicit TrackedWeights(const AttentionLayer& layer);
  ~TrackedWeights();
  TrackedWeights(const TrackedWeights&) = delete;
  TrackedWeights& operator=(const TrackedWeights&) = delete;

  Tensor weights;  ///< Of the last call: [B, H, Tq, Tk], differentiable.

  /// The one that tracks a layer on this thread; null: none.
  static TrackedWeights* of(const AttentionLayer& layer);

 private:
  const AttentionLayer& layer_;
  TrackedWeights* before_;
};

/// The weights [B, H, Tq, Tk] of q [B, H, Tq, D] for k [B, G, Tk, D], differentiable.
Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionSpec& spec);

}  // namespace heed
