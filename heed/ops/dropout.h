// Dropout (Srivastava et al., 2014) with the mask drawn from a counter-based generator: the
// backward pass needs only the number of the random stream, not the mask.
#pragma once

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Sets each element to 0 with probability p in [0, 1) and multiplies the others by 1 / (1 - p).
/// Takes one stream of the generator, unless p is 0, when x itself is returned.
Tensor dropout(const Tensor& x, double p, Generator& generator = default_generator());

/// dropout(x, p) + residual in one pass; the shapes must be equal.
Tensor dropout_add(const Tensor& x, double p, const Tensor& residual,
                   Generator& generator = default_generator());

}  // namespace heed
