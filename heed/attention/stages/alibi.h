// Attention with linear biases (Press et al. 2022): score -= slope[h] |i - j|.
#pragma once

#include <cstdint>

#include "heed/attention/corner.h"
#include "heed/attention/stage.h"

namespace heed {

/// The slopes of the paper for H heads, [H]: 2^(-8 h / H), h from 1 on; if H is no power of two,
/// those of the power below, then every second one of the power above.
Tensor alibi_slopes(std::int64_t H, DType dtype = DType::f32);

/// score -= slopes[h] * |i + shift - j|; slopes [H], learned or not.
Modifier alibi(const Tensor& slopes, Corner corner = Corner::top_left);

}  // namespace heed
