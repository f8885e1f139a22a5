#include "heed/training/embedding_job.h"

#include <algorithm>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/text_reader.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/order.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/training/pair_sets.h"
#include "heed/training/vocabularies.h"

namespace heed {

EmbeddingJob::EmbeddingJob(TextEmbedder embedder, std::shared_ptr<const ParallelCorpus> training,
                           std::shared_ptr<const ParallelCorpus> validation,
                           const EmbeddingJobOptions& options)
    : StreamJob(settings_of(options.batching), std::move(training), options.batching),
      embedder_(std::move(embedder)),
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

void EmbeddingJob::take_parts(const BatchParts& parts) {
  HEED_CHECK(
      parts.count == 1,
      "[train] shards = {}: the task \"embed\" compares all texts of a batch with each other, "
      "so parts of a batch would have another loss; train it with one process",
      parts.count);
}

std::vector<Judgement> EmbeddingJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  const BatchPlan plan = plan_epoch(validation_->lengths(), in_order(options_.batching), 0);
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

// ---- from a config ------------------------------------------------------------------------------

std::unique_ptr<Job> make_embedding(const JobRequest& request) {
  const TrainConfig& config = request.config;
  const std::optional<std::filesystem::path>& begin = request.begin;
  std::vector<std::string>& notes = request.notes;
  const auto fresh = [&]() -> TextEmbedder {
    const std::shared_ptr<const Tokenizer> tokenizer = make_tokenizers(config).source;
    return {new_model<EncodingModel>(config, {.target_vocabulary = tokenizer->size()}), tokenizer};
  };
  TextEmbedder embedder = begin ? load_text_embedder(*begin) : fresh();
  if (embedder.origin) embedder.origin->hold();
  const std::int64_t longest = longest_text(config, embedder.model->max_length());
  const auto read_side = [&](std::string_view text) {
    return read_text(*embedder.tokenizer, embedder.frame,
                     {.text = embedder.prompt + std::string(text)}, longest)
        .ids;
  };
  const SpecialTokens special = embedder.tokenizer->special();
  const auto read = [&](const std::vector<std::string>& sets) {
    ParallelText text = open_pairs(sets, config);
    auto corpus = std::make_shared<const ParallelCorpus>(
        read_corpus(text, {.source = read_side, .target = read_side}, {special, special},
                    {.max_ratio = config.max_ratio, .end_source = false}));
    note_corpus(sets[0], text, *corpus, notes);
    return corpus;
  };
  const std::shared_ptr<const ParallelCorpus> training = read(config.train_sets);
  std::shared_ptr<const ParallelCorpus> validation;
  if (!config.valid_sets.empty()) validation = read(config.valid_sets);
  return std::make_unique<EmbeddingJob>(std::move(embedder), training, validation,
                                        EmbeddingJobOptions{.batching = batching_of(config)});
}

}  // namespace heed
