// The activation functions of layers and their names in configs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "heed/io/codec.h"
#include "heed/kernels/elementwise.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// An activation function of a layer.
enum class Activation : std::uint8_t {
  none,
  relu,
  elu,
  gelu,       // exact, by the error function
  gelu_tanh,  // GPT-2's approximation
  silu,
  tanh,
  sigmoid,
  softplus
};

/// The names that configs use.
constexpr std::array<io::EnumName<Activation>, 9> enum_names(Activation) {
  return {{{Activation::none, "none"},
           {Activation::relu, "relu"},
           {Activation::elu, "elu"},
           {Activation::gelu, "gelu"},
           {Activation::gelu_tanh, "gelu_tanh"},
           {Activation::silu, "silu"},
           {Activation::tanh, "tanh"},
           {Activation::sigmoid, "sigmoid"},
           {Activation::softplus, "softplus"}}};
}

/// The elementwise function that computes an activation, or nullopt for `none`.
std::optional<kernels::Unary> function_of(Activation activation);

/// activation(x).
Tensor activate(Activation activation, const Tensor& x);

}  // namespace heed
