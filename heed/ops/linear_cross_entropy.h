// The last layer of language models and translators together with its loss: cross entropy of
// x W^T, a block of rows at a time. The scores of all rows over a vocabulary are the largest tensor
// of a training step; here they never exist, and neither does their gradient: each block's is
// turned into those of x and W while it is in cache. cross_entropy(linear(x, W), targets) is the
// plain twin.
#pragma once

#include "heed/ops/cross_entropy.h"

namespace heed {

struct LinearCrossEntropy {
  Tensor loss;                     ///< A scalar: the mean or the sum, as asked; on the tape.
  double negative_log_likelihood;  ///< The sum over rows that count, without smoothing.
  std::int64_t counted;            ///< How many rows count.
};

/// The loss of rows x [..., E] under weight [V, E] and classes targets [...]; the reduction is mean
/// or sum. `rows_at_once` rows of scores are in memory at a time; 0: as many as suit the sizes.
LinearCrossEntropy linear_cross_entropy(const Tensor& x, const Tensor& weight,
                                        const Tensor& targets, CrossEntropyOptions options = {},
                                        std::int64_t rows_at_once = 0);

}  // namespace heed
