// Convolution layers (cross-correlations, as in PyTorch).
#pragma once

#include "heed/base/random.h"
#include "heed/nn/module.h"
#include "heed/ops/sliding.h"

namespace heed {

/// Options of Conv1d.
struct Conv1dConfig {
  std::int64_t in = 0;   // channels
  std::int64_t out = 0;  // channels
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

/// 1-D convolution. Parameters "weight" [out, in / groups, kernel] and "bias" [out], initialised as
/// in PyTorch.
class Conv1d : public Module {
 public:
  explicit Conv1d(const Conv1dConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, in, L] -> [B, out, L'].
  Tensor operator()(const Tensor& x) const;

  Tensor weight;  // [out, in / groups, kernel]
  Tensor bias;    // [out], or undefined

 private:
  Conv1dConfig config_;
};

/// Options of Conv2d.
struct Conv2dConfig {
  std::int64_t in = 0;   // channels
  std::int64_t out = 0;  // channels
  Size2d kernel = 1;
  Size2d stride = 1;
  Size2d padding = 0;
  Size2d dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};

/// 2-D convolution. Parameters "weight" [out, in / groups, height, width] and "bias" [out],
/// initialised as in PyTorch.
class Conv2d : public Module {
 public:
  explicit Conv2d(const Conv2dConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x [B, in, H, W] -> [B, out, H', W'].
  Tensor operator()(const Tensor& x) const;

  Tensor weight;  // [out, in / groups, height, width]
  Tensor bias;    // [out], or undefined

 private:
  Conv2dConfig config_;
};

}  // namespace heed
