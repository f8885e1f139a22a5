#include "heed/training/language_job.h"

#include <algorithm>
#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"

namespace heed {

LanguageJob::LanguageJob(TextGenerator generator, TokenStream training, TokenStream validation,
                         const LanguageJobOptions& options)
    : generator_(std::move(generator)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(options) {
  HEED_CHECK(training_.size() > options.batch.length,
             "[train] the text has {} tokens, a block {}: give more text or lower block_length",
             training_.size(), options.batch.length);
}

std::int64_t LanguageJob::epoch_batches() const {
  const std::int64_t tokens = options_.batch.rows * options_.batch.length;
  return std::max<std::int64_t>(1, (training_.size() + tokens - 1) / tokens);
}

BatchLoss LanguageJob::loss_of(const TokenBlocks& blocks, double smoothing) const {
  const CausalModel& model = *generator_.model;
  const Tensor y = model(blocks.tokens);  // [B, T, E]
  const LinearCrossEntropy loss = model.output_layer().loss(
      y, blocks.expected, {.label_smoothing = smoothing, .reduction = Reduction::sum});
  return {.sum = loss.loss,
          .negative_log_likelihood = loss.negative_log_likelihood,
          .counted = loss.counted,
          .source_tokens = blocks.count,
          .target_tokens = blocks.count};
}

BatchLoss LanguageJob::next() {
  const TokenBlocks blocks = training_.random_blocks(options_.batch, options_.seed, batches_++);
  return loss_of(blocks, options_.label_smoothing);
}

StreamPosition LanguageJob::position() const {
  return {batches_ / epoch_batches(), batches_ % epoch_batches()};
}

void LanguageJob::seek(const StreamPosition& position) {
  batches_ = position.epoch * epoch_batches() + position.batch;
}

std::vector<StreamSetting> LanguageJob::stream_settings() const {
  return {{"block_length", options_.batch.length},
          {"batch_tokens / block_length (or batch_sentences)", options_.batch.rows},
          {"seed", static_cast<std::int64_t>(options_.seed)}};
}

double LanguageJob::epoch_share() const {
  return static_cast<double>(position().batch) / static_cast<double>(epoch_batches());
}

std::vector<Judgement> LanguageJob::validate() {
  const NoGrad no_grad;
  const BlockSize size{.rows = std::max<std::int64_t>(1, kBatchTokens / options_.batch.length),
                       .length = options_.batch.length};
  const std::int64_t blocks = validation_.block_count(size.length);
  if (blocks == 0) return {};
  double sum = 0.0;
  std::int64_t counted = 0;
  for (std::int64_t first = 0; first < blocks; first += size.rows) {
    const BatchLoss loss = loss_of(validation_.blocks(size, first), 0.0);
    sum += loss.negative_log_likelihood;
    counted += loss.counted;
  }
  const double mean = sum / static_cast<double>(std::max<std::int64_t>(1, counted));
  return {{"loss", mean}, {"perplexity", std::exp(mean)}};
}

void LanguageJob::save(const std::filesystem::path& folder) const {
  save_model(generator_, folder);
}

}  // namespace heed
