// A window around a place that each query has of its own, which need not be a whole number (Luong
// et al. 2015, local-p). Where it ends has no gradient.
#pragma once

#include "heed/attention/mask.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Query i of head h sees keys from centre[b, h, i] - reach to centre[b, h, i] + reach, both
/// included. centres [B, H, Tq], where B and H may be 1. A query whose centre is NaN sees every
/// key.
Mask window_around(const Tensor& centres, double reach);

}  // namespace heed
