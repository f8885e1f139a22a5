// Dropout (Srivastava et al., 2014) with the mask drawn from a counter-based generator: nothing is
// kept for the backward pass but the name of the random stream.
#pragma once

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Each element is 0 with probability p in [0, 1), else multiplied by 1 / (1 - p). Takes one stream
/// of the generator, unless p is 0 and the result x itself.
Tensor dropout(const Tensor& x, double p, Generator& generator = default_generator());

/// dropout(x, p) + residual in one pass; the shapes must be equal.
Tensor dropout_add(const Tensor& x, double p, const Tensor& residual,
                   Generator& generator = default_generator());

}  // namespace heed
