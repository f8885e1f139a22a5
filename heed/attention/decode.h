// Attention of new queries to all positions of a cache: one decoding step. Append the keys and
// values of the new positions first, so that queries attend to themselves:
//
//   cache.append(k, v);
//   attention_decode(q, cache, {.mask = causal(Corner::bottom_right)});
//
// The last query is at the last position. Masks and stages count the kept positions from 0 and do
// not know how many a window has evicted. So everything that depends on the position of a query
// among the keys (causal, window, ALiBi, T5, Shaw) needs Corner::bottom_right.
#pragma once

#include "heed/attention/cache.h"
#include "heed/attention/spec.h"
#include "heed/tensor/tensor.h"

namespace heed {

/// q [B, H, Tq, D] -> [B, H, Tq, Dv], f32 or f64 as q is, without gradient; keys and values are
/// read in the cache's dtype. Fast for few queries, correct for any number.
Tensor attention_decode(const Tensor& q, const KvCache& cache, const AttentionSpec& spec = {});

}  // namespace heed
