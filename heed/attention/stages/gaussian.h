// Weights under a Gaussian (Luong et al. 2015, local-p): what lies far from a query's own centre
// counts less.
#pragma once

#include "heed/attention/stage.h"

namespace heed {

/// weight *= exp(-(j - centre[b, h, i])^2 / (2 deviation^2)), after the softmax: rows then sum to
/// less than 1. centres [B, H, Tq], where B and H may be 1; learned or not. Keys are counted from
/// 0.
Reweight gaussian(const Tensor& centres, double deviation);

}  // namespace heed
