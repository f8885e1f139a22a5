// The mean of a text's positions.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// The mean over the first lengths[b] positions of each text, [B, T, E] -> [B, E]; over all of T if
/// lengths is undefined. The mean of no positions is 0.
Tensor masked_mean(const Tensor& x, const Tensor& lengths);

}  // namespace heed
