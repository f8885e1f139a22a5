// The fused output layer and loss (linear_cross_entropy.h) of models that copy words from a source:
// the log of the sum of two distributions, in the same pass over blocks of rows. The plain
// equivalent is -log of copy_mixture (attention/variants/pointer_generator.h) at the targets.
#pragma once

#include "heed/ops/linear_cross_entropy.h"

namespace heed {

/// What else may give a row its target, besides the scores.
struct CopyMixture {
  Tensor gate;    ///< z [...]: the share of the scores' softmax is sigmoid(z).
  Tensor copied;  ///< [...]: the probability of the target under the other distribution.
};

/// The loss of x [..., E] with weight [V, E] and targets [...] for
///   P(target) = sigmoid(z) softmax(x W^T + b)[target] + (1 - sigmoid(z)) copied.
/// Targets from V on are words that only the other distribution has. Label smoothing applies to the
/// softmax alone. Gradients go to x, W, b, z and `copied`. A row whose probability is 0 in the
/// numbers' precision has the loss of the smallest one and no gradient. The reduction is mean or
/// sum; the bias is [V] or undefined.
LinearCrossEntropy copy_cross_entropy(const Tensor& x, const Tensor& weight, const Tensor& targets,
                                      const CopyMixture& mixture, CrossEntropyOptions options = {},
                                      const Tensor& bias = {});

}  // namespace heed
