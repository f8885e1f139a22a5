// Hard attention (Xu et al. 2015): each query reads the value of one key, sampled with the
// probability that softmax gives it. A sample is not differentiable, but its log-probability is;
// the score function estimator (REINFORCE, Williams 1992) computes a gradient from it:
//
//   const HardAttention drawn = hard_attention(q, k, v, spec, default_generator().next());
//   const Tensor reward = ...;  // [B, H, Tq], off the tape
//   (loss(drawn.output) - mean(reward * drawn.log_prob)).backward();
#pragma once

#include "heed/attention/spec.h"
#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct HardAttention {
  Tensor output;    ///< [B, H, Tq, Dv]; its gradient goes to v alone.
  Tensor index;     ///< [B, H, Tq], i64: the sampled key, -1 for queries without visible keys.
  Tensor log_prob;  ///< [B, H, Tq]: its log-probability, differentiable; 0 for queries without
                    ///< visible keys.
};

/// spec.normaliser must be softmax_weights(), which gives the probabilities. The same stream
/// samples the same keys, on any number of threads.
HardAttention hard_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionSpec& spec, RandomStream random);

}  // namespace heed
