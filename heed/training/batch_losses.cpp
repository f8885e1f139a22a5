#include "heed/training/batch_losses.h"

#include "heed/ops/cross_entropy.h"

namespace heed {

BatchLoss label_loss(const LabelScores& labelled, double label_smoothing) {
  const std::int64_t count = labelled.labels.numel();
  BatchLoss loss{.counted = count, .source_tokens = count, .target_tokens = count};
  loss.sum = cross_entropy(labelled.scores, labelled.labels,
                           {.label_smoothing = label_smoothing, .reduction = Reduction::sum});
  loss.negative_log_likelihood =
      label_smoothing == 0.0
          ? loss.sum.item()
          : cross_entropy(labelled.scores.detach(), labelled.labels, {.reduction = Reduction::sum})
                .item();
  return loss;
}

BatchLoss token_loss(const LinearCrossEntropy& loss) {
  return {.sum = loss.loss,
          .negative_log_likelihood = loss.negative_log_likelihood,
          .counted = loss.counted};
}

}  // namespace heed
