#include "heed/nn/activation.h"

#include "heed/ops/elementwise.h"

namespace heed {

std::optional<kernels::Unary> function_of(Activation activation) {
  switch (activation) {
    case Activation::none:
      return std::nullopt;
    case Activation::relu:
      return kernels::Unary::relu;
    case Activation::elu:
      return kernels::Unary::elu;
    case Activation::gelu:
      return kernels::Unary::gelu;
    case Activation::gelu_tanh:
      return kernels::Unary::gelu_tanh;
    case Activation::silu:
      return kernels::Unary::silu;
    case Activation::tanh:
      return kernels::Unary::tanh;
    case Activation::sigmoid:
      return kernels::Unary::sigmoid;
    case Activation::softplus:
      return kernels::Unary::softplus;
  }
  __builtin_unreachable();
}

Tensor activate(Activation activation, const Tensor& x) {
  const auto function = function_of(activation);
  return function ? unary(*function, x) : x;
}

}  // namespace heed
