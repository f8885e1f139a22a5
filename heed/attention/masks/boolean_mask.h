// A mask given element by element. Rows are looked at eight elements at a time: what they hide
// together is skipped, and rows that are one interval are treated as such.
#pragma once

#include "heed/attention/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Query i sees key j where seen[b, h, i, j] is true; any of the four axes may be 1 or, from the
/// left, absent.
Mask boolean_mask(const Tensor& seen);

}  // namespace heed
