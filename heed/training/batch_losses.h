// The cross entropy of a batch as trainers take it: of labels, and of the tokens that a decoder
// predicts.
#pragma once

#include "heed/ops/linear_cross_entropy.h"
#include "heed/training/job.h"

namespace heed {

/// The scores of classes [B, C] and the right ones, i64 [B].
struct LabelScores {
  const Tensor& scores;
  const Tensor& labels;
};

/// The loss of labels; a label is one token that is read and written.
BatchLoss label_loss(const LabelScores& labelled, double label_smoothing);

/// The loss of tokens, as an output layer computes it (Reduction::sum).
BatchLoss token_loss(const LinearCrossEntropy& loss);

}  // namespace heed
