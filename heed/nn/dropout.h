// Dropout (Srivastava et al. 2014): active in training mode, the identity in evaluation mode.
#pragma once

#include "heed/nn/module.h"

namespace heed {

/// Options of Dropout.
struct DropoutConfig {
  double p = 0.1;  // probability that an element is set to 0
};

/// Dropout layer without parameters. Random numbers come from the default generator.
class Dropout : public Module {
 public:
  explicit Dropout(const DropoutConfig& config = {});

  void visit(ParameterVisitor&) override {}
  /// x -> the same shape.
  Tensor operator()(const Tensor& x) const;
  /// dropout(x) + residual, in one pass.
  Tensor operator()(const Tensor& x, const Tensor& residual) const;

 private:
  double p() const { return training() ? p_ : 0.0; }

  double p_;
};

}  // namespace heed
