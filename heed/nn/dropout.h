// Dropout (Srivastava et al. 2014): on while training, the identity in use.
#pragma once

#include "heed/nn/module.h"

namespace heed {

struct DropoutConfig {
  double p = 0.1;  // share of elements set to 0
};

/// No parameters; random numbers come from the default generator.
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
