// Masks under which each query of each head sees one interval of keys, given as numbers: for
// mechanisms that put positions into an order of their own and know what lies beside what.
#pragma once

#include "heed/attention/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Query i sees keys [first[b, h, i], last[b, h, i]), none if last <= first; both i64 [B, H, Tq].
Mask row_intervals(const Tensor& first, const Tensor& last);

}  // namespace heed
