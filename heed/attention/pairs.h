// What concerns all pairs of queries and keys, as tensors: for mechanisms whose result is the
// weights themselves, such as pointers. The others have no use for so much memory: attention.h.
#pragma once

#include "heed/attention/mask.h"
#include "heed/attention/score.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// Whether query i sees key j: boolean, of shape `pairs`, which is [B, H, Tq, Tk]. Undefined if the
/// mask hides nothing.
Tensor seen_pairs(const Mask& mask, const Shape& pairs);

/// The scores of q [B, H, Tq, D] and k [B, G, Tk, D]: [B, H, Tq, Tk], differentiable, and -inf
/// where `seen` (boolean, of that shape; undefined: everything) is false. They come from the tiles,
/// so that an additive score keeps no Tq x Tk x D numbers, and hidden keys may be NaN.
Tensor pair_scores(const Tensor& q, const Tensor& k, const Score& score, const Tensor& seen = {});

}  // namespace heed
