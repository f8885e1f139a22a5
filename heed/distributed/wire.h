// The form in which gradients travel between ranks. With bf16 they take half the bytes. Every sum
// of the tree but the last is then rounded to bf16, also where it is not sent, so that the number
// of ranks does not matter.
#pragma once

#include <array>
#include <cstdint>

#include "heed/io/codec.h"
#include "heed/tensor/tensor.h"

namespace heed {

enum class Wire : std::uint8_t { f32, bf16 };

/// The names that configs use.
constexpr std::array<io::EnumName<Wire>, 2> enum_names(Wire) {
  return {{{Wire::f32, "f32"}, {Wire::bf16, "bf16"}}};
}

/// The values after they have travelled; f32: they themselves.
Tensor as_sent(const Tensor& values, Wire wire);

}  // namespace heed
