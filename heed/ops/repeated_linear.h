// A linear map that is used many times in a row, such as at each step of a recurrence. The gradient
// of its weight is one product over all uses, instead of a small one that is added to the whole
// matrix at each use. The plain equivalent is linear(x, weight, {.bias = bias}) for every use.
//
//   const RepeatedLinear map(weight, bias);
//   for (…) h = tanh(map(h) + x);
#pragma once

#include <memory>

#include "heed/tensor/tensor.h"

namespace heed {

/// Copies share their uses. Only uses in one graph, whose backward pass runs once, count.
class RepeatedLinear {
 public:
  /// weight [out, in], bias [out] or undefined.
  explicit RepeatedLinear(const Tensor& weight, const Tensor& bias = {});

  /// x […, in] -> […, out].
  Tensor operator()(const Tensor& x) const;

 private:
  struct Uses;

  Tensor weight_, bias_;        // without gradient
  Tensor anchor_;               // a tensor without elements: its node computes the gradients
  std::shared_ptr<Uses> uses_;  // null if no gradient is needed
};

}  // namespace heed
