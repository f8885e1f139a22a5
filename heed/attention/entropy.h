// The entropy of each query's weights, H = -sum_j p log p. As a term of a loss it keeps attention
// from becoming sharp too early (Xu et al. 2015), or makes it sharper.
#pragma once

#include "heed/attention/spec.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// The entropy of softmax over the keys of k [B, G, Tk, D] that are visible to each query of q [B,
/// H, Tq, D], in nats: [B, H, Tq], differentiable; 0 for queries without visible keys.
/// spec.normaliser must be softmax_weights(). No more memory is used than by attention itself.
Tensor attention_entropy(const Tensor& q, const Tensor& k, const AttentionSpec& spec = {});

}  // namespace heed
