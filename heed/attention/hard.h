// Hard attention (Xu et al. 2015): each query reads one key's value, drawn with the probability
// that softmax gives it. A draw cannot be differentiated; what can is the logarithm of its
// probability, from which the score function estimator (REINFORCE, Williams 1992) makes a gradient:
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
  Tensor index;     ///< [B, H, Tq] in i64: the key drawn, -1 for queries that see none.
  Tensor log_prob;  ///< [B, H, Tq]: log softmax of the scores there, differentiable; 0 for those.
};

/// spec.normaliser must be softmax_weights(), which gives the probabilities. The same stream draws
/// the same keys, on any number of threads.
HardAttention hard_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionSpec& spec, RandomStream random);

}  // namespace heed
