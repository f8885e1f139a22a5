// Normalisation along the last axis: LayerNorm (Ba et al. 2016) and RmsNorm (Zhang and Sennrich
// 2019), alone or fused with the residual sum before them.
#pragma once

#include <variant>

#include "heed/nn/module.h"
#include "heed/ops/norm.h"

namespace heed {

/// Options of LayerNorm.
struct LayerNormConfig {
  std::int64_t size = 0;
  double eps = 1e-5;
  bool weight = true;
  bool bias = true;
};

/// Layer normalisation. Parameters "weight" and "bias" [size], initialised to 1 and 0.
class LayerNorm : public Module {
 public:
  explicit LayerNorm(const LayerNormConfig& config);

  void visit(ParameterVisitor& visitor) override;
  /// x […, size] -> the same shape.
  Tensor operator()(const Tensor& x) const;
  /// The norm of x + residual, and that sum.
  NormResidual operator()(const Tensor& x, const Tensor& residual) const;

  Tensor weight;  // [size], or undefined
  Tensor bias;    // [size], or undefined

 private:
  std::int64_t size_;
  double eps_;
};

/// Options of RmsNorm.
struct RmsNormConfig {
  std::int64_t size = 0;
  double eps = 1e-6;
  bool weight = true;
};

/// RMS normalisation. Parameter "weight" [size], initialised to 1.
class RmsNorm : public Module {
 public:
  explicit RmsNorm(const RmsNormConfig& config);

  void visit(ParameterVisitor& visitor) override;
  /// x […, size] -> the same shape.
  Tensor operator()(const Tensor& x) const;
  /// The norm of x + residual, and that sum.
  NormResidual operator()(const Tensor& x, const Tensor& residual) const;

  Tensor weight;  // [size], or undefined

 private:
  std::int64_t size_;
  double eps_;
};

enum class NormKind : std::uint8_t { layer, rms };

struct NormConfig {
  NormKind kind = NormKind::layer;
  std::int64_t size = 0;
  double eps = 1e-5;
  bool bias = true;  // of LayerNorm; RmsNorm has none
};

/// A norm of either kind. Its parameters have the names of that kind.
class Norm : public Module {
 public:
  explicit Norm(const NormConfig& config);

  void visit(ParameterVisitor& visitor) override;
  /// x […, size] -> the same shape.
  Tensor operator()(const Tensor& x) const;
  /// The norm of x + residual, and that sum.
  NormResidual operator()(const Tensor& x, const Tensor& residual) const;

 private:
  std::variant<LayerNorm, RmsNorm> norm_;
};

}  // namespace heed
