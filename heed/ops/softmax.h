// Softmax and log-softmax along an axis. log_softmax is more accurate than log(softmax(x)).
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// exp(x) / sum(exp(x)) along an axis. If every element is -inf (all masked), the result and its
/// gradient are 0.
Tensor softmax(const Tensor& x, int axis = -1);

/// log(softmax(x)) along an axis; -inf if every element is -inf.
Tensor log_softmax(const Tensor& x, int axis = -1);

}  // namespace heed
