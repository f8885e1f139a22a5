#include "heed/training/make_job.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/new_head.h"
#include "heed/generation/text_reader.h"
#include "heed/io/config.h"
#include "heed/io/lines.h"
#include "heed/models/block.h"
#include "heed/models/stack.h"
#include "heed/text/words.h"
#include "heed/training/classification_job.h"
#include "heed/training/embedding_job.h"
#include "heed/training/fine_tuning.h"
#include "heed/training/language_job.h"
#include "heed/training/translation_job.h"
#include "heed/training/vocabularies.h"

namespace heed {
namespace {

ParallelText open_pairs(const std::vector<std::string>& sets, const TrainConfig& config) {
  const ParallelTextOptions options{.on_bad = config.on_bad};
  if (sets.size() == 1) return {sets[0], TextColumns{}, options};
  return {sets[0], sets[1], options};
}

// Notes what was read; a corpus without pairs is an error.
void note_corpus(const std::string& name, const ParallelText& text, const ParallelCorpus& corpus,
                 std::vector<std::string>& notes) {
  notes.push_back(
      fmt::format("{}: {}; {}", name, describe(text.report()), describe(corpus.report())));
  HEED_CHECK(corpus.size() > 0, "[train] {}: no pair of sentences is left; {}", name, notes.back());
}

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
                   }} {
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
    corpus->add(format.reader.source(pair.source), format.reader.target(pair.target));
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

// A new model of the config's kind, as the interface of its task.
template <typename Interface>
std::unique_ptr<Interface> new_model(const TrainConfig& config, const ModelSizes& sizes) {
  ModelChoice choice = config.models.at(config.model_kind());
  choice.config().set_sizes(sizes);
  Generator generator(config.trainer.seed);
  std::unique_ptr<Model> model = choice.make(generator);
  auto* const typed = dynamic_cast<Interface*>(model.get());
  HEED_ASSERT(typed != nullptr);
  model.release();
  return std::unique_ptr<Interface>(typed);
}

Translator new_translator(const TrainConfig& config) {
  const TokenizerPair tokenizers = make_tokenizers(config);
  return {new_model<TranslationModel>(config, {.source_vocabulary = tokenizers.source->size(),
                                               .target_vocabulary = tokenizers.target->size(),
                                               .padding = padding_of(*tokenizers.target)}),
          tokenizers.source, tokenizers.target};
}

std::unique_ptr<Job> make_translation(const TrainConfig& config,
                                      const std::optional<std::filesystem::path>& begin,
                                      std::vector<std::string>& notes) {
  Translator translator = begin ? load_translator(*begin) : new_translator(config);
  if (translator.origin) translator.origin->hold();
  const auto corpus = read_training(config, translator, notes);
  TranslationValidation validation = read_validation(config, translator, notes);
  TranslationJobOptions options{.label_smoothing = config.smoothing(),
                                .batching = {.batch_tokens = config.batch_tokens,
                                             .batch_sentences = config.batch_sentences,
                                             .seed = config.trainer.seed},
                                .metrics = config.validation.metrics,
                                .tokenizer = config.validation.tokenizer,
                                .translate = {.search = config.validation.search}};
  return std::make_unique<TranslationJob>(std::move(translator), corpus, std::move(validation),
                                          options);
}

std::unique_ptr<Job> make_language(const TrainConfig& config,
                                   const std::optional<std::filesystem::path>& begin,
                                   std::vector<std::string>& notes) {
  const auto fresh = [&]() -> TextGenerator {
    const std::shared_ptr<const Tokenizer> tokenizer = make_tokenizer(config);
    return {new_model<CausalModel>(config, {.target_vocabulary = tokenizer->size()}), tokenizer};
  };
  TextGenerator generator = begin ? load_text_generator(*begin) : fresh();
  if (generator.origin) generator.origin->hold();
  const TokenStreamOptions reading{.on_bad = config.on_bad};
  TokenStream training = read_tokens(config.train_sets[0], *generator.tokenizer, reading);
  TokenStream validation({});
  if (config.valid_sets.empty()) {
    std::tie(training, validation) = training.split(config.valid_share);
  } else {
    validation = read_tokens(config.valid_sets[0], *generator.tokenizer, reading);
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
      LanguageJobOptions{.batch = {.rows = rows, .length = config.block_length},
                         .label_smoothing = config.smoothing(),
                         .seed = config.trainer.seed});
}

// The most tokens of a text that a model reads.
std::int64_t longest_text(const TrainConfig& config, std::int64_t model) {
  return config.max_length > 0 ? std::min(config.max_length, model) : model;
}

// The classifier of a folder; if the run begins with a trained encoder, with the labels of the
// data.
TextClassifier load_classifier(const TrainConfig& config, const std::filesystem::path& begin) {
  if (begin != config.start_from) return load_text_classifier(begin);
  const std::vector<std::string> labels = read_labels(config.train_sets[0], config.on_bad);
  Generator generator(config.trainer.seed);
  return load_with_labels(begin, labels, generator);
}

std::unique_ptr<Job> make_classification(const TrainConfig& config,
                                         const std::optional<std::filesystem::path>& begin,
                                         std::vector<std::string>& notes) {
  std::optional<TextClassifier> saved;
  if (begin) saved = load_classifier(config, *begin);
  const std::shared_ptr<const Tokenizer> tokenizer =
      saved ? saved->tokenizer : make_tokenizer(config);
  LabelledOptions reading{.max_length = config.max_length, .on_bad = config.on_bad};
  if (saved) reading.labels = saved->labels;
  if (saved && saved->origin) {
    saved->origin->hold();
    reading.read = [&saved, longest = longest_text(config, saved->model->max_length())](
                       std::string_view text) {
      return read_text(*saved->tokenizer, saved->frame, {.text = text}, longest).ids;
    };
  }
  const auto training = std::make_shared<const LabelledCorpus>(
      read_labelled(config.train_sets[0], *tokenizer, reading));
  notes.push_back(fmt::format("{}: {} texts of {} classes", config.train_sets[0], training->size(),
                              training->names.size()));
  HEED_CHECK(training->size() > 0,
             "[train] {}: there is no text in it; lines must be a label, a tab "
             "and a text",
             config.train_sets[0]);
  reading.labels = training->names;
  std::shared_ptr<const LabelledCorpus> validation;
  if (!config.valid_sets.empty()) {
    validation = std::make_shared<const LabelledCorpus>(
        read_labelled(config.valid_sets[0], *tokenizer, reading));
  }
  const auto fresh = [&]() -> TextClassifier {
    return {new_model<ClassificationModel>(config, {.target_vocabulary = tokenizer->size(),
                                                    .classes = std::ssize(training->names)}),
            tokenizer, training->names};
  };
  TextClassifier classifier = saved ? std::move(*saved) : fresh();
  return std::make_unique<ClassificationJob>(
      std::move(classifier), training, validation,
      ClassificationJobOptions{.label_smoothing = config.smoothing(),
                               .batching = {.batch_tokens = config.batch_tokens,
                                            .batch_sentences = config.batch_sentences,
                                            .seed = config.trainer.seed}});
}

std::unique_ptr<Job> make_embedding(const TrainConfig& config,
                                    const std::optional<std::filesystem::path>& begin,
                                    std::vector<std::string>& notes) {
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
  return std::make_unique<EmbeddingJob>(
      std::move(embedder), training, validation,
      EmbeddingJobOptions{.batching = {.batch_tokens = config.batch_tokens,
                                       .batch_sentences = config.batch_sentences,
                                       .seed = config.trainer.seed}});
}

// Whether the data decide a value that the config leaves open.
bool is_open(std::string_view key, std::string_view value) {
  constexpr std::string_view kFromData[] = {"source_vocabulary", "target_vocabulary", "vocabulary",
                                            "classes", "padding"};
  return std::ranges::find(kFromData, key) != std::end(kFromData) &&
         (value == "0" || value == "\"none\"");
}

// A run that resumes has the model of its checkpoint, so a config that describes another model is
// an error.
void check_same_model(const ModelChoice& wanted, const ModelChoice& saved) {
  HEED_CHECK(
      wanted.kind().name == saved.kind().name,
      "[train] the checkpoint holds a {}, the config describes a {}: resume with the kind of "
      "the checkpoint, or train into another folder",
      saved.kind().name, wanted.kind().name);
  const std::vector<io::FieldInfo> ours = io::list_fields(wanted), theirs = io::list_fields(saved);
  HEED_ASSERT(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    HEED_CHECK(
        ours[i].value == theirs[i].value || is_open(ours[i].path, ours[i].value),
        "[train] {0}.{1} was {2} and is {3}: a run resumes with the model of its checkpoint; "
        "give {2}, or train into another folder",
        wanted.kind().name, ours[i].path, theirs[i].value, ours[i].value);
  }
}

void check_attentions(const ModelChoice& model) {
  for (const AttentionChoice& attention : model.config().attentions()) {
    check_trainable(model.kind().name, attention);
  }
}

}  // namespace

MadeJob make_job(const TrainConfig& config,
                 const std::optional<std::filesystem::path>& checkpoint) {
  config.validate();
  HEED_CHECK(!config.train_sets.empty(),
             "[train] there is nothing to train on: give train_sets, source and target");
  const bool is_new = config.start_from.empty();
  const ModelChoice& model = config.models.at(config.model_kind());
  if (is_new) check_attentions(model);
  default_generator() = Generator(config.trainer.seed);
  // The folder of the model that training begins with; none: a new one.
  std::optional<std::filesystem::path> begin = checkpoint;
  if (!checkpoint && !is_new) begin = config.start_from;
  MadeJob made;
  switch (config.task) {
    case Task::translate:
      made.job = make_translation(config, begin, made.notes);
      break;
    case Task::language:
      made.job = make_language(config, begin, made.notes);
      break;
    case Task::classify:
      made.job = make_classification(config, begin, made.notes);
      break;
    case Task::embed:
      made.job = make_embedding(config, begin, made.notes);
      break;
    case Task::fill:
      HEED_ASSERT(false);  // config.validate() has refused it
  }
  auto& own = dynamic_cast<Model&>(made.job->model());
  if (checkpoint && is_new) check_same_model(model, own.choice());
  if (!is_new) check_attentions(own.choice());
  prepare_training(own, config);
  if (config.checkpoint_activations) {
    HEED_CHECK(checkpoint_activations(made.job->model()) > 0,
               "[train] checkpoint_activations: a {} has no Transformer layers; leave it out",
               config.model_kind().name);
  }
  return made;
}

}  // namespace heed
