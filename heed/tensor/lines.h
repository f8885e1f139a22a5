// The lines along one axis of tensors, for kernels that work line by line.
#pragma once

#include <array>

#include "heed/kernels/lines.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The lines along an axis of tensors of one rank; `shape` gives their number and length.
template <typename... Tensors>
auto lines_of(const Shape& shape, int axis, const Tensors&... tensors) {
  constexpr int kOperands = sizeof...(Tensors);
  return kernels::make_lines<kOperands>(shape, axis,
                                        std::array<Strides, kOperands>{tensors.strides()...});
}

}  // namespace heed
