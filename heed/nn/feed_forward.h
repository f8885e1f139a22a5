// The position-wise part of a Transformer block: two linear layers with an activation between them
// (Vaswani et al. 2017), and the gated variant (Shazeer 2020).
#pragma once

#include "heed/nn/dropout.h"
#include "heed/nn/linear.h"

namespace heed {

/// Options of FeedForward.
struct FeedForwardConfig {
  std::int64_t size = 0;
  std::int64_t hidden = 0;
  Activation activation = Activation::relu;
  double dropout = 0.0;  // between the two layers
  bool bias = true;
};

/// linear2(dropout(activation(linear1(x)))), named as in PyTorch's Transformer layers.
class FeedForward : public Module {
 public:
  explicit FeedForward(const FeedForwardConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x […, size] -> the same shape.
  Tensor operator()(const Tensor& x) const;

  Linear linear1;  // [hidden, size]
  Linear linear2;  // [size, hidden]
  Dropout dropout;
};

/// Options of GatedFeedForward.
struct GatedFeedForwardConfig {
  std::int64_t size = 0;
  std::int64_t hidden = 0;
  Activation activation = Activation::silu;  // of the gate: silu makes SwiGLU, gelu GEGLU
  double dropout = 0.0;                      // before down_proj
  bool bias = false;
};

/// down_proj(dropout(activation(gate_proj(x)) * up_proj(x))), named as in Llama's checkpoints.
class GatedFeedForward : public Module {
 public:
  explicit GatedFeedForward(const GatedFeedForwardConfig& config,
                            Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x […, size] -> the same shape.
  Tensor operator()(const Tensor& x) const;

  Linear gate_proj;  // [hidden, size]
  Linear up_proj;    // [hidden, size]
  Linear down_proj;  // [size, hidden]
  Dropout dropout;
};

}  // namespace heed
