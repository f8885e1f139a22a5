#include "heed/training/train_config.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"

namespace heed {
namespace {

// The metrics of a task's validation.
std::vector<std::string> judgements_of(const TrainConfig& config) {
  switch (config.task) {
    case Task::translate:
      return config.validation.metrics;
    case Task::language:
      return {"loss", "perplexity"};
    case Task::classify:
    case Task::embed:
    case Task::fill:
      break;
  }
  return {"loss", "accuracy"};
}

}  // namespace

void VocabularyConfig::fields(io::Fields& field) {
  field("kind", kind, "sentencepiece, words or characters");
  field("shared", shared, "one vocabulary for source and target");
  field("size", size, "maximum number of tokens; words and characters: 0 for all",
        {.min = 0, .max = 10'000'000});
  field("model_type", model_type, "SentencePiece: type of the model");
  field("character_coverage", character_coverage, "SentencePiece: share of characters covered",
        {.min = 0, .max = 1});
  field(
      "normalization", normalization,
      "SentencePiece: normalisation of text; identity keeps it unchanged, such as Chinese commas");
  field("min_count", min_count, "words and characters rarer than this are unknown", {.min = 1});
}

void ValidationConfig::fields(io::Fields& field) {
  field("metrics", metrics, "loss, perplexity; translate: bleu, chrf; classify: accuracy");
  field("tokenizer", tokenizer, "BLEU: tokeniser");
  field("references", references, "reference files; none: the target of valid_sets");
  field("search", search, "how validation translates");
}

ModelSections::ModelSections() {
  for (const ModelKind& kind : model_kinds()) sections_.emplace_back(kind);
}

void ModelSections::fields(io::Fields& field) {
  for (ModelChoice& section : sections_) field(section.kind().name, section, section.kind().what);
}

const ModelChoice& ModelSections::at(const ModelKind& kind) const {
  for (const ModelChoice& section : sections_) {
    if (section.kind().name == kind.name) return section;
  }
  HEED_ASSERT(false);
}

void TrainConfig::fields(io::Fields& field) {
  field("task", task, "translate, language (a language model), classify or embed");
  field("kind", kind, "kind of model, named as its section below; empty: the first of the task");
  field("model", model, "folder to train into");
  field("train_sets", train_sets, "source and target, or one file with tabs; plain or gzip");
  field("valid_sets", valid_sets, "the same for validation");
  field("start_from", start_from,
        "folder of a model to go on from, heed's or Hugging Face's; its sizes and vocabularies are "
        "used");
  field("freeze", freeze, "names of parameters that are not trained; * stands for any text");
  field("lora", lora, "train adapters of low rank instead of all parameters");
  field("vocabs", vocabs,
        "vocabulary files: one for both sides, or one each; none: made from the training set");
  field("vocabulary", vocabulary, "how a vocabulary is made if no file is given");
  field("on_bad", on_bad, "invalid lines: stop, or skip and count them");
  field("max_length", max_length,
        "maximum length of a sentence; longer ones are skipped; 0: no limit", {.min = 0});
  field("max_ratio", max_ratio,
        "maximum ratio of the lengths of a pair; others are skipped; 0: no limit", {.min = 0});
  field("batch_tokens", batch_tokens, "maximum number of tokens of a batch, including padding",
        {.min = 1, .max = 1 << 30});
  field("batch_sentences", batch_sentences, "maximum number of sentences of a batch; 0: no limit",
        {.min = 0, .max = 1 << 20});
  field("block_length", block_length, "language: tokens of a row", {.min = 1, .max = 1 << 20});
  field("valid_share", valid_share,
        "language: share of the training set used for validation if valid_sets is empty",
        {.min = 0, .max = 1});
  field("label_smoothing", label_smoothing, "label smoothing; none: 0.1 for translate, otherwise 0",
        {.min = 0, .max = 1});
  field("checkpoint_activations", checkpoint_activations,
        "recompute the activations of layers in the backward pass: less memory, more time");
  field("cpu_threads", cpu_threads, "number of threads; 0: as many as the machine has",
        {.min = 0, .max = kMaxThreads});
  field("validation", validation, "metrics of validation");
  trainer.fields(field);
  models.fields(field);
}

void TrainConfig::validate() const {
  io::check_limits(*this, "train");
  trainer.validate();
  model_kind();
  HEED_CHECK(start_from.empty() || vocabs.empty(),
             "[train] start_from and vocabs: the model that training goes on from has its own "
             "vocabularies; leave vocabs out");
  lora.validate();
  HEED_CHECK(lora.rank == 0 || !start_from.empty(),
             "[train] lora.rank = {}: adapters correct a trained model; name one with start_from",
             lora.rank);
  HEED_CHECK(
      task != Task::fill,
      "[train] task \"fill\": training has the tasks translate, language, classify and embed; "
      "models of masked tokens are read from Hugging Face folders");
  HEED_CHECK(vocabs.size() <= 2, "[train] {} vocabs: give one for both sides, or one each",
             vocabs.size());
  HEED_CHECK(train_sets.size() <= 2 && valid_sets.size() <= 2,
             "[train] {} train_sets and {} valid_sets: give source and target, or one file",
             train_sets.size(), valid_sets.size());
  const bool has_pairs = task == Task::translate || task == Task::embed;
  HEED_CHECK(has_pairs || (train_sets.size() <= 1 && valid_sets.size() <= 1),
             "[train] {} train_sets and {} valid_sets: this task has one file each",
             train_sets.size(), valid_sets.size());
  validation.search.validate();
  constexpr std::string_view kKnown[] = {"loss", "perplexity", "bleu", "chrf", "accuracy"};
  for (const std::string& metric : validation.metrics) {
    HEED_CHECK(std::ranges::find(kKnown, metric) != std::end(kKnown),
               "[train] validation.metrics has {}: there are loss, perplexity, bleu, chrf and "
               "accuracy",
               io::in_quotes(metric));
    HEED_CHECK(task != Task::translate || metric != "accuracy",
               "[train] validation.metrics has \"accuracy\": translations have bleu and chrf");
  }
  // Checked now rather than after the first epoch.
  const std::vector<std::string> given = judgements_of(*this);
  const bool is_validated = !valid_sets.empty() || (task == Task::language && valid_share > 0.0);
  HEED_CHECK(!is_validated || std::ranges::find(given, trainer.stop_on) != given.end(),
             "[train] stop_on = {}, but validation gives {}: name one of those",
             io::in_quotes(trainer.stop_on), fmt::join(given, ", "));
}

}  // namespace heed
