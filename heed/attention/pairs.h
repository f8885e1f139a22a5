// Masks and scores of all pairs of queries and keys as tensors, for mechanisms whose result is the
// weights themselves, such as pointers. Other mechanisms use attention.h, which needs less memory.
#pragma once

#include "heed/attention/mask.h"
#include "heed/attention/score.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Whether query i may attend to key j: boolean, of shape `pairs`, which is [B, H, Tq, Tk].
/// Undefined if the mask hides nothing.
Tensor dense_mask(const Mask& mask, const Shape& pairs);

/// The scores of q [B, H, Tq, D] and k [B, G, Tk, D]: [B, H, Tq, Tk], differentiable, and -inf
/// where `visible` (boolean, of that shape; undefined: all true) is false. They are computed in
/// tiles, so an additive score stores no Tq x Tk x D numbers, and hidden keys may be NaN.
Tensor pair_scores(const Tensor& q, const Tensor& k, const Score& score,
                   const Tensor& visible = {});

}  // namespace heed
