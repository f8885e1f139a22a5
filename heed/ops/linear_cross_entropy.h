// The output layer of language models and translators fused with its loss: cross entropy of x W^T +
// b, computed a block of rows at a time. The scores of all rows over the vocabulary would be the
// largest tensor of a training step. Here neither they nor their gradient are ever stored whole:
// the gradient of each block of scores is turned into gradients of x and W while it is in cache.
// The plain equivalent is cross_entropy(linear(x, W, {.bias = b}), targets).
#pragma once

#include "heed/ops/cross_entropy.h"

namespace heed {

/// Result of linear_cross_entropy.
struct LinearCrossEntropy {
  Tensor loss;                     ///< Scalar: the mean or the sum, differentiable.
  double negative_log_likelihood;  ///< Sum over the rows that count, without label smoothing.
  std::int64_t counted;            ///< The number of rows that count.
  Tensor log_likelihoods = {};     ///< Of each row, in the shape of the targets, without gradient;
                                   ///< 0 for rows that do not count.
};

/// The loss of x [..., E] with weight [V, E] and targets [...] (classes). The reduction is mean or
/// sum. `rows_at_once` rows of scores are in memory at a time; 0 chooses a number by the sizes. The
/// bias is [V] or undefined.
LinearCrossEntropy linear_cross_entropy(const Tensor& x, const Tensor& weight,
                                        const Tensor& targets, CrossEntropyOptions options = {},
                                        std::int64_t rows_at_once = 0, const Tensor& bias = {});

}  // namespace heed
