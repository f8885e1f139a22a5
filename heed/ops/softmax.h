// Softmax along an axis, and its logarithm without the rounding of taking it afterwards.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// exp(x) / sum(exp(x)) along an axis. Where every element is -inf (all masked) the result and its
/// gradient are 0.
Tensor softmax(const Tensor& x, int axis = -1);

/// log(softmax(x)) along an axis; -inf where every element is -inf.
Tensor log_softmax(const Tensor& x, int axis = -1);

}  // namespace heed
