#include "heed/training/classification_job.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/order.h"

namespace heed {

ClassificationJob::ClassificationJob(TextClassifier classifier,
                                     std::shared_ptr<const LabelledCorpus> training,
                                     std::shared_ptr<const LabelledCorpus> validation,
                                     const ClassificationJobOptions& options)
    : classifier_(std::move(classifier)),
      stream_(std::move(training), options.batching),
      validation_(std::move(validation)),
      options_(options) {}

BatchLoss ClassificationJob::next() {
  const LabelledBatch batch = stream_.next();
  const Tensor scores = (*classifier_.model)({batch.tokens, batch.lengths});  // [B, C]
  BatchLoss loss{.counted = batch.labels.numel(),
                 .source_tokens = batch.token_count,
                 .target_tokens = batch.labels.numel()};
  loss.sum =
      cross_entropy(scores, batch.labels,
                    {.label_smoothing = options_.label_smoothing, .reduction = Reduction::sum});
  const NoGrad no_grad;
  loss.negative_log_likelihood =
      cross_entropy(scores.detach(), batch.labels, {.reduction = Reduction::sum}).item();
  return loss;
}

double ClassificationJob::epoch_share() const {
  return static_cast<double>(stream_.position().batch) /
         static_cast<double>(std::max<std::int64_t>(1, stream_.epoch_batches()));
}

std::vector<Judgement> ClassificationJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  BatchingOptions batching = options_.batching;
  batching.shuffle = false;
  const BatchPlan plan = plan_epoch(lengths_of(*validation_), batching, 0);
  double sum = 0.0, right = 0.0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const LabelledBatch batch = make_batch(*validation_, plan.rows(i));
    const Tensor scores = (*classifier_.model)({batch.tokens, batch.lengths});  // [B, C]
    sum += cross_entropy(scores, batch.labels, {.reduction = Reduction::sum}).item();
    const auto said = argmax(scores).to_vector<std::int64_t>();
    const auto labels = batch.labels.to_vector<std::int64_t>();
    for (std::size_t k = 0; k < said.size(); ++k) right += said[k] == labels[k] ? 1.0 : 0.0;
  }
  const auto texts = static_cast<double>(validation_->size());
  return {{"loss", sum / texts}, {"accuracy", 100.0 * right / texts, true}};
}

void ClassificationJob::save(const std::filesystem::path& folder) const {
  save_model(classifier_, folder);
}

}  // namespace heed
