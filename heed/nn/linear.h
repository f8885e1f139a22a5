// The linear layer: activation(x W^T + b), in one pass over the result.
#pragma once

#include "heed/base/random.h"
#include "heed/nn/activation.h"
#include "heed/nn/module.h"

namespace heed {

/// Options of Linear.
struct LinearConfig {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = true;
  Activation activation = Activation::none;
};

/// Linear layer. Parameters "weight" [out, in] and "bias" [out], named and initialised as in
/// PyTorch.
class Linear : public Module {
 public:
  explicit Linear(const LinearConfig& config, Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  /// x […, in] -> […, out].
  Tensor operator()(const Tensor& x) const;

  Tensor weight;  // [out, in]
  Tensor bias;    // [out], or undefined

 private:
  std::optional<kernels::Unary> activation_;
};

}  // namespace heed
