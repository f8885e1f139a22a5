// A bias given number by number, learned or not.
#pragma once

#include "heed/attention/stage.h"

namespace heed {

/// score += bias[b, h, i, j]; any of the four axes may be 1 or, from the left, absent. -inf hides a
/// key, but a mask does so faster.
Modifier dense_bias(const Tensor& bias);

}  // namespace heed
