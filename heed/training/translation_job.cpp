#include "heed/training/translation_job.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "heed/attention/variants/pointer_generator.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/data/packed_stream.h"
#include "heed/evaluation/bleu.h"
#include "heed/evaluation/chrf.h"
#include "heed/generation/model_folder.h"
#include "heed/io/lines.h"
#include "heed/models/copying.h"
#include "heed/ops/choose.h"
#include "heed/ops/copy_cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/text/words.h"
#include "heed/training/batch_losses.h"
#include "heed/training/pair_sets.h"
#include "heed/training/vocabularies.h"

namespace heed {
namespace {

// The probability of each expected token to be copied: the sum of the weights of the source
// positions that have it, [B, T].
Tensor copied_probability(const CopySteps& steps, const Batch& batch) {
  const Tensor matches = equal(unsqueeze(batch.copies, 1), unsqueeze(batch.expected, 2));
  return sum(where(matches, steps.weights, 0.0), {2});
}

// The loss of a model that copies words of the source, with that of coverage.
LinearCrossEntropy copying_loss(const TranslationModel& translation, const Batch& batch,
                                const Memory& memory, const CrossEntropyOptions& options) {
  const CopyingModel& model = *copying_of(translation);
  const OutputLayer& output = translation.output_layer();
  HEED_ASSERT(!output.weight.packed);
  CopySteps steps;
  const Tensor y = model.decode_copying(batch.target, memory, steps);  // [B, T, E]
  LinearCrossEntropy loss = copy_cross_entropy(
      y, output.weight.data, batch.expected,
      {.gate = steps.gate, .copied = copied_probability(steps, batch)}, options, output.bias);
  if (model.coverage_weight() > 0.0) {
    const Tensor again = coverage_loss(
        {.context = {}, .weights = steps.weights, .coverage = steps.coverage});  // [B, T]
    const Tensor counts = not_equal(batch.expected, full({}, kIgnored, DType::i64));
    loss.loss = loss.loss + model.coverage_weight() * sum(where(counts, again, 0.0));
  }
  return loss;
}

LinearCrossEntropy plain_loss(const TranslationModel& model, const Batch& batch,
                              const Memory& memory, const CrossEntropyOptions& options) {
  const Tensor y = model.decode(batch.target, memory);  // [B, T, E]
  return model.output_layer().loss(y, batch.expected, options);
}

}  // namespace

TranslationJob::TranslationJob(Translator translator, std::unique_ptr<EpochStream<Batch>> stream,
                               TranslationValidation validation,
                               const TranslationJobOptions& options)
    : translator_(std::move(translator)),
      stream_(std::move(stream)),
      validation_(std::move(validation)),
      options_(options),
      sampled_loss_(translator_.model(), options.sampled) {}

TranslationJob::TranslationJob(Translator translator, std::shared_ptr<const ParallelCorpus> corpus,
                               TranslationValidation validation,
                               const TranslationJobOptions& options)
    : TranslationJob(std::move(translator),
                     std::make_unique<BatchStream>(std::move(corpus), options.batching),
                     std::move(validation), options) {}

// If `pass` is not null, it receives what attention samples.
BatchLoss TranslationJob::loss_of(const Batch& batch, double smoothing, SampledPass* pass) const {
  const TranslationModel& model = translator_.model();
  std::optional<RecordSamples> record;
  if (pass != nullptr) record.emplace(pass->encoder);
  const Memory memory = model.encode(batch.source, batch.source_lengths);  // [B, S, E]
  record.reset();
  if (pass != nullptr) record.emplace(pass->decoder);
  const CrossEntropyOptions options{.label_smoothing = smoothing, .reduction = Reduction::sum};
  const LinearCrossEntropy computed = batch.copies.defined()
                                          ? copying_loss(model, batch, memory, options)
                                          : plain_loss(model, batch, memory, options);
  record.reset();
  if (pass != nullptr) {
    pass->source_lengths = batch.source_lengths;
    pass->target_lengths = batch.target_lengths;
    pass->log_likelihoods = computed.log_likelihoods;
  }
  BatchLoss loss = token_loss(computed);
  loss.source_tokens = batch.source_tokens;
  loss.target_tokens = batch.target_tokens;
  return loss;
}

BatchLoss TranslationJob::next() {
  const std::optional<Batch> batch = stream_->next_part();
  if (!batch) return {};
  if (!sampled_loss_.is_needed()) return loss_of(*batch, options_.label_smoothing);
  SampledPass pass;
  BatchLoss loss = loss_of(*batch, options_.label_smoothing, &pass);
  sampled_loss_.add(pass, loss);
  return loss;
}

std::vector<StreamSetting> TranslationJob::stream_settings() const {
  std::vector<StreamSetting> settings = settings_of(options_.batching);
  const auto& more = options_.stream_settings;
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

double TranslationJob::mean_loss() const {
  const NoGrad no_grad;
  const std::vector<PairLength> lengths = validation_.corpus->lengths();
  const BatchPlan plan = plan_epoch(lengths, in_order(options_.batching), 0);
  double sum = 0.0;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const BatchLoss loss = loss_of(make_batch(*validation_.corpus, plan.rows(i)), 0.0);
    sum += loss.negative_log_likelihood;
    counted += loss.counted;
  }
  return sum / static_cast<double>(std::max<std::int64_t>(1, counted));
}

std::vector<Judgement> TranslationJob::validate() {
  std::vector<Judgement> judgements;
  if (!validation_.corpus || validation_.corpus->size() == 0) return judgements;
  const auto wants = [&](std::string_view name) {
    return std::ranges::find(options_.metrics, name) != options_.metrics.end();
  };
  const double loss = mean_loss();
  if (wants("loss")) judgements.push_back({"loss", loss});
  if (wants("perplexity")) judgements.push_back({"perplexity", std::exp(loss)});
  if (!wants("bleu") && !wants("chrf")) return judgements;
  std::vector<std::string> hypotheses;
  for (auto& found : translator_.translate(validation_.sources, options_.translate)) {
    hypotheses.push_back(found.empty() ? std::string() : std::move(found[0].text));
  }
  const auto judge = [&](const char* name, const evaluation::Metric& metric) {
    const double value = evaluation::corpus_score(metric, hypotheses, validation_.references).value;
    judgements.push_back({name, value, true});
  };
  if (wants("bleu")) judge("bleu", evaluation::Bleu({.tokenizer = options_.tokenizer}));
  if (wants("chrf")) judge("chrf", evaluation::Chrf());
  return judgements;
}

void TranslationJob::save(const std::filesystem::path& folder) const {
  save_model(translator_, folder);
}

// ---- from a config ------------------------------------------------------------------------------

namespace {

// How pairs become tokens. An imported model says itself what stands around sources and targets.
struct PairFormat {
  explicit PairFormat(const Translator& translator)
      : is_imported(translator.origin != nullptr),
        specials{translator.source()->special(), translator.target()->special()},
        reader{.source =
                   [&translator, imported = is_imported](std::string_view line) {
                     return imported ? translator.read(line) : translator.source()->encode(line);
                   },
               .target =
                   [&translator, imported = is_imported](std::string_view line) {
                     return imported ? translator.read_result(line)
                                     : translator.target()->encode(line);
                   },
               .copies = translator.copies()} {
    if (!is_imported) return;
    specials.target.begin = translator.frame().start;
    specials.target.end = translator.format().special.end;
    specials.target.padding = translator.format().special.padding;
  }

  bool is_imported;
  PairSpecials specials;
  PairReader reader;
};

std::shared_ptr<const ParallelCorpus> read_training(const TrainConfig& config,
                                                    const Translator& translator,
                                                    std::vector<std::string>& notes) {
  ParallelText text = open_pairs(config.train_sets, config);
  const PairFormat format(translator);
  auto corpus =
      std::make_shared<const ParallelCorpus>(read_corpus(text, format.reader, format.specials,
                                                         {.max_source_length = config.max_length,
                                                          .max_target_length = config.max_length,
                                                          .max_ratio = config.max_ratio,
                                                          .end_source = !format.is_imported}));
  note_corpus(config.train_sets[0], text, *corpus, notes);
  return corpus;
}

// Whether two tokenizers are saved as the same file.
bool is_same(const Tokenizer& a, const Tokenizer& b) {
  return a.files().front().content == b.files().front().content;
}

// A corpus that stays on disk. It has its own tokenizers, which the model must have, too.
std::shared_ptr<const PackedPairs> open_packed(const TrainConfig& config,
                                               const Translator& translator,
                                               std::vector<std::string>& notes) {
  const std::string& folder = config.train_sets[0];
  HEED_CHECK(
      config.train_sets.size() == 1,
      "[train] {} train_sets, and {} is a packed corpus, which has both sides: give it alone",
      config.train_sets.size(), folder);
  auto corpus = std::make_shared<const PackedPairs>(folder);
  HEED_CHECK(!translator.origin,
             "[train] {}: a packed corpus has tokens as heed's own models read them, and an "
             "imported model reads others; train it on text files",
             folder);
  HEED_CHECK(translator.copies() == nullptr,
             "[train] {}: a packed corpus has no words that are not in the vocabulary, which a "
             "model with copy = true needs; train it on text files",
             folder);
  HEED_CHECK(is_same(*corpus->source(), *translator.source()) &&
                 is_same(*corpus->target(), *translator.target()),
             "[train] {} was packed with other vocabularies than those of the model: pack the text "
             "with the model's (--vocabs), or train a new model",
             folder);
  const PackedInfo& info = corpus->info();
  HEED_CHECK(
      config.max_length == 0 || (info.max_length > 0 && info.max_length <= config.max_length),
      "[train] max_length is {}, and {} was packed with {}: pairs are selected when they are "
      "packed (heed corpus pack --max-length={})",
      config.max_length, folder, info.max_length, config.max_length);
  HEED_CHECK(
      config.max_ratio == 0.0 || (info.max_ratio > 0.0 && info.max_ratio <= config.max_ratio),
      "[train] max_ratio is {}, and {} was packed with {}: pairs are selected when they are "
      "packed (heed corpus pack --max-ratio={})",
      config.max_ratio, folder, info.max_ratio, config.max_ratio);
  notes.push_back(fmt::format("{}: {} packed pairs, shuffled in {} windows", folder, info.pairs,
                              packed_windows(*corpus, config.shuffle_window)));
  return corpus;
}

// Restores the words of a text that subword-nmt has split, for comparison.
std::string as_words(const Tokenizer& tokenizer, std::string_view line) {
  const auto* const words = dynamic_cast<const Words*>(&tokenizer);
  std::string text(line);
  if (words == nullptr || words->joint().empty()) return text;
  const std::string joint = words->joint() + " ";
  for (std::size_t at = 0; (at = text.find(joint, at)) != std::string::npos;) {
    text.erase(at, joint.size());
  }
  return text;
}

TranslationValidation read_validation(const TrainConfig& config, const Translator& translator,
                                      std::vector<std::string>& notes) {
  TranslationValidation validation;
  if (config.valid_sets.empty()) return validation;
  const PairFormat format(translator);
  ParallelText text = open_pairs(config.valid_sets, config);
  auto corpus = std::make_shared<ParallelCorpus>(format.specials,
                                                 CorpusOptions{.end_source = !format.is_imported});
  std::vector<std::string> targets;
  for (TextPair pair; text.next(pair);) {
    add_pair(*corpus, format.reader, pair);
    validation.sources.emplace_back(pair.source);
    targets.push_back(as_words(*translator.target(), pair.target));
  }
  note_corpus(config.valid_sets[0], text, *corpus, notes);
  validation.corpus = std::move(corpus);
  for (const std::string& path : config.validation.references) {
    io::LineReader reader(path);
    std::vector<std::string>& lines = validation.references.emplace_back();
    for (std::string line; reader.next(line);) lines.push_back(line);
    HEED_CHECK(lines.size() == validation.sources.size(),
               "[train] {} has {} lines, the validation set {}", path, lines.size(),
               validation.sources.size());
  }
  if (validation.references.empty()) validation.references.push_back(std::move(targets));
  return validation;
}

// The embedding of a padding token stays 0, unless the token is also the unknown or the end token.
std::optional<std::int64_t> padding_of(const Tokenizer& tokenizer) {
  const SpecialTokens special = tokenizer.special();
  if (special.padding == special.unknown || special.padding == special.end) return {};
  return special.padding;
}

Translator new_translator(const TrainConfig& config) {
  const TokenizerPair tokenizers = make_tokenizers(config);
  return {new_model<TranslationModel>(config, {.source_vocabulary = tokenizers.source->size(),
                                               .target_vocabulary = tokenizers.target->size(),
                                               .padding = padding_of(*tokenizers.target)}),
          tokenizers.source, tokenizers.target};
}

}  // namespace

std::unique_ptr<Job> make_translation(const JobRequest& request) {
  const TrainConfig& config = request.config;
  const std::optional<std::filesystem::path>& begin = request.begin;
  std::vector<std::string>& notes = request.notes;
  Translator translator = begin ? load_translator(*begin) : new_translator(config);
  if (translator.origin) translator.origin->hold();
  TranslationJobOptions options{.label_smoothing = config.smoothing(),
                                .batching = batching_of(config),
                                .metrics = config.validation.metrics,
                                .tokenizer = config.validation.tokenizer,
                                .translate = {.search = config.validation.search},
                                .sampled = config.reinforce};
  std::unique_ptr<EpochStream<Batch>> stream;
  if (is_packed(config.train_sets[0])) {
    const auto corpus = open_packed(config, translator, notes);
    stream = std::make_unique<PackedStream>(
        corpus, PackedStreamOptions{.batching = options.batching, .window = config.shuffle_window});
    options.stream_settings = {{"shuffle_window", config.shuffle_window},
                               {"pairs", corpus->info().pairs}};
  } else {
    stream =
        std::make_unique<BatchStream>(read_training(config, translator, notes), options.batching);
  }
  TranslationValidation validation = read_validation(config, translator, notes);
  return std::make_unique<TranslationJob>(std::move(translator), std::move(stream),
                                          std::move(validation), options);
}

}  // namespace heed
