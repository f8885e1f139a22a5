#include "heed/training/language_job.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/data/packed_pairs.h"
#include "heed/generation/model_folder.h"
#include "heed/tensor/create.h"
#include "heed/training/batch_losses.h"
#include "heed/training/vocabularies.h"

namespace heed {

LanguageJob::LanguageJob(TextGenerator generator, TokenStream training, TokenStream validation,
                         const LanguageJobOptions& options)
    : generator_(std::move(generator)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      options_(options),
      sampled_loss_(*generator_.model, options.sampled) {
  HEED_CHECK(training_.size() > options.batch.length,
             "[train] the text has {} tokens, a block {}: give more text or lower block_length",
             training_.size(), options.batch.length);
}

std::int64_t LanguageJob::epoch_batches() const {
  const std::int64_t tokens = options_.batch.rows * options_.batch.length;
  return std::max<std::int64_t>(1, (training_.size() + tokens - 1) / tokens);
}

// If `pass` is not null, it receives what attention samples.
BatchLoss LanguageJob::loss_of(const TokenBlocks& blocks, double smoothing,
                               SampledPass* pass) const {
  const CausalModel& model = *generator_.model;
  std::optional<RecordSamples> record;
  if (pass != nullptr) record.emplace(pass->decoder);
  const Tensor y = model(blocks.tokens);  // [B, T, E]
  record.reset();
  const LinearCrossEntropy computed = model.output_layer().loss(
      y, blocks.expected, {.label_smoothing = smoothing, .reduction = Reduction::sum});
  if (pass != nullptr) {
    const auto length = static_cast<double>(blocks.tokens.size(1));
    pass->target_lengths = full({blocks.tokens.size(0)}, length, DType::i64);
    pass->log_likelihoods = computed.log_likelihoods;
  }
  BatchLoss loss = token_loss(computed);
  loss.source_tokens = loss.target_tokens = blocks.count;
  return loss;
}

BatchLoss LanguageJob::next() {
  const RowRange rows = walk_.parts().rows(walk_.part(), options_.batch.rows);
  const std::int64_t batch = batches_ + walk_.batch();
  if (walk_.advance()) batches_ += walk_.parts().batches;
  if (rows.size() == 0) return {};
  BlockSize size = options_.batch;
  size.rows = rows.size();
  const TokenBlocks blocks = training_.random_blocks(size, options_.seed, batch, rows.begin);
  if (!sampled_loss_.is_needed()) return loss_of(blocks, options_.label_smoothing);
  SampledPass pass;
  BatchLoss loss = loss_of(blocks, options_.label_smoothing, &pass);
  sampled_loss_.add(pass, loss);
  return loss;
}

StreamPosition LanguageJob::position() const {
  return {batches_ / epoch_batches(), batches_ % epoch_batches()};
}

void LanguageJob::seek(const StreamPosition& position) {
  batches_ = position.epoch * epoch_batches() + position.batch;
  walk_.restart();
}

std::vector<StreamSetting> LanguageJob::stream_settings() const {
  std::vector<StreamSetting> settings = {
      {"block_length", options_.batch.length},
      {"batch_tokens / block_length (or batch_sentences)", options_.batch.rows},
      {"seed", static_cast<std::int64_t>(options_.seed)}};
  if (options_.batch.aligned) settings.push_back({"aligned_blocks", 1});
  return settings;
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

// ---- from a config ------------------------------------------------------------------------------

namespace {

// The tokens of a text file, or of a packed text, which stays on disk.
TokenStream open_tokens(const std::string& path, const TextGenerator& generator, OnBad on_bad) {
  if (!is_packed_text(path)) return read_tokens(path, *generator.tokenizer, {.on_bad = on_bad});
  auto text = std::make_shared<const PackedText>(path);
  HEED_CHECK(!generator.origin,
             "[train] {}: a packed text has tokens as heed's own models read them, and an imported "
             "model reads others; train it on a text file",
             path);
  HEED_CHECK(
      text->tokenizer()->files().front().content == generator.tokenizer->files().front().content,
      "[train] {} was packed with another vocabulary than that of the model: pack the text "
      "with the model's (--vocabs), or train a new model",
      path);
  return TokenStream(std::move(text));
}

}  // namespace

std::unique_ptr<Job> make_language(const JobRequest& request) {
  const TrainConfig& config = request.config;
  const std::optional<std::filesystem::path>& begin = request.begin;
  std::vector<std::string>& notes = request.notes;
  HEED_CHECK(!is_packed(config.train_sets[0]),
             "[train] {} has packed pairs for translation: pack the text of a language model with "
             "heed corpus pack --task language",
             config.train_sets[0]);
  const auto fresh = [&]() -> TextGenerator {
    const std::shared_ptr<const Tokenizer> tokenizer = make_tokenizer(config);
    return {new_model<CausalModel>(config, {.target_vocabulary = tokenizer->size()}), tokenizer};
  };
  TextGenerator generator = begin ? load_text_generator(*begin) : fresh();
  if (generator.origin) generator.origin->hold();
  TokenStream training = open_tokens(config.train_sets[0], generator, config.on_bad);
  TokenStream validation(std::vector<std::int32_t>{});
  if (config.valid_sets.empty()) {
    std::tie(training, validation) = training.split(config.valid_share);
  } else {
    validation = open_tokens(config.valid_sets[0], generator, config.on_bad);
  }
  notes.push_back(fmt::format("{}: {} tokens to train, {} to validate, a vocabulary of {}",
                              config.train_sets[0], training.size(), validation.size(),
                              generator.tokenizer->size()));
  const std::int64_t rows =
      config.batch_sentences > 0
          ? config.batch_sentences
          : std::max<std::int64_t>(1, config.batch_tokens / config.block_length);
  return std::make_unique<LanguageJob>(
      std::move(generator), std::move(training), std::move(validation),
      LanguageJobOptions{
          .batch = {.rows = rows, .length = config.block_length, .aligned = config.aligned_blocks},
          .label_smoothing = config.smoothing(),
          .seed = config.trainer.seed,
          .sampled = config.reinforce});
}

}  // namespace heed
