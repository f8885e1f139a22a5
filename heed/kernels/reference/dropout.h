// The plain twin of dropout, for one element.
#pragma once

#include "heed/kernels/dropout.h"

namespace heed::kernels::reference {

/// Dropout of element `index`, whose value is x.
inline double dropout(const DropoutMask& mask, std::int64_t index, double x) {
  return mask.random.bits(static_cast<std::uint64_t>(index)) < mask.threshold ? 0.0
                                                                              : x * mask.scale;
}

}  // namespace heed::kernels::reference
