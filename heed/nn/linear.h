// The linear layer: activation(x W^T + b), in one pass over the result.
#pragma once

#include "heed/base/random.h"
#include "heed/nn/activation.h"
#include "heed/nn/module.h"
#include "heed/nn/weight.h"

namespace heed {

/// Options of Linear.
struct LinearConfig {
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = true;
  Activation activation = Activation::none;
};

/// Linear layer. Parameters "weight" [out, in] and "bias" [out], named and initialised as in
/// PyTorch; of a weight with an adapter also "lora_down" [rank, in] and "lora_up" [out, rank].
class Linear : public Module {
 public:
  explicit Linear(const LinearConfig& config, Generator& generator = default_generator());
  /// Uses the given weight and bias (or none); two layers with one weight are tied.
  explicit Linear(Weight weight, Tensor bias = {});

  void visit(ParameterVisitor& visitor) override;
  /// x […, in] -> […, out].
  Tensor operator()(const Tensor& x) const;
  /// The outputs [begin, end) alone: x […, in] -> […, end - begin].
  Tensor rows(const Tensor& x, std::int64_t begin, std::int64_t end) const;

  Weight weight;  // [out, in]
  Tensor bias;    // [out], or undefined

 private:
  std::optional<kernels::Unary> activation_;
};

}  // namespace heed
