#include "heed/training/embedding_job.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/order.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"

namespace heed {

EmbeddingJob::EmbeddingJob(TextEmbedder embedder, std::shared_ptr<const ParallelCorpus> training,
                           std::shared_ptr<const ParallelCorpus> validation,
                           const EmbeddingJobOptions& options)
    : embedder_(std::move(embedder)),
      stream_(std::move(training), options.batching),
      validation_(std::move(validation)),
      options_(options) {}

Tensor EmbeddingJob::scores(const TextPairBatch& batch) const {
  const EncodingModel& model = *embedder_.model;
  const auto vectors = [&](const PaddedRows& rows) {
    const Tensor states = model.states({rows.tokens, rows.lengths});  // [B, T, E]
    return model.vectors(states, rows.lengths, {.normalize = true});  // [B, E]
  };
  const Tensor first = vectors(batch.first), second = vectors(batch.second);  // [B, E]
  return matmul(first, transpose(second, 0, 1)) * options_.scale;             // [B, B]
}

BatchLoss EmbeddingJob::next() {
  const TextPairBatch batch = stream_.next();
  const Tensor similar = scores(batch);  // [B, B]
  BatchLoss loss{.counted = similar.size(0),
                 .source_tokens = batch.first.total,
                 .target_tokens = batch.second.total};
  loss.sum = cross_entropy(similar, arange(similar.size(0)), {.reduction = Reduction::sum});
  loss.negative_log_likelihood = loss.sum.item();
  return loss;
}

double EmbeddingJob::epoch_share() const {
  return static_cast<double>(stream_.position().batch) /
         static_cast<double>(std::max<std::int64_t>(1, stream_.epoch_batches()));
}

std::vector<Judgement> EmbeddingJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  BatchingOptions batching = options_.batching;
  batching.shuffle = false;
  const BatchPlan plan = plan_epoch(validation_->lengths(), batching, 0);
  double sum = 0.0, right = 0.0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const Tensor similar = scores(make_text_pairs(*validation_, plan.rows(i)));  // [B, B]
    sum += cross_entropy(similar, arange(similar.size(0)), {.reduction = Reduction::sum}).item();
    const auto best = argmax(similar).to_vector<std::int64_t>();
    for (std::size_t k = 0; k < best.size(); ++k) {
      right += best[k] == static_cast<std::int64_t>(k) ? 1.0 : 0.0;
    }
  }
  const auto pairs = static_cast<double>(validation_->size());
  return {{"loss", sum / pairs}, {"accuracy", 100.0 * right / pairs, true}};
}

void EmbeddingJob::save(const std::filesystem::path& folder) const {
  save_model(embedder_, folder);
}

}  // namespace heed
