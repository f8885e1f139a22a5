// Relative position representations (Shaw et al. 2018): a learned vector for each clipped distance,
// added to keys or to values as they are read.
#pragma once

#include "heed/attention/corner.h"
#include "heed/attention/stage.h"

namespace heed {

/// score += scale * q_i . table[clip(j - i - shift, -c, c) + c]: table [2c + 1, D] or
/// [H, 2c + 1, D]; the scale is that of the score.
Modifier shaw_keys(const Tensor& table, Corner corner = Corner::top_left);

/// Value j is read by query i as v_j + table[clip(j - i - shift, -c, c) + c]: table [2c + 1, Dv] or
/// [H, 2c + 1, Dv].
Reweight shaw_values(const Tensor& table, Corner corner = Corner::top_left);

}  // namespace heed
