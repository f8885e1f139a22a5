#include "heed/training/train_config.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/io/config.h"
#include "heed/training/training_task.h"

namespace heed {
namespace {

// The metrics of a task's validation.
std::vector<std::string> judgements_of(const TrainConfig& config, const TrainingTask& task) {
  if (task.judgements.empty()) return config.validation.metrics;
  return {task.judgements.begin(), task.judgements.end()};
}

}  // namespace

void VocabularyConfig::fields(io::Fields& field) {
  field("kind", kind, "sentencepiece, words or characters; read and answer: always words");
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

TrainConfig::TrainConfig() = default;

void TrainConfig::fields(io::Fields& field) {
  static const std::string kTasks = list_training_tasks("or", true);  // help is not copied
  field("task", task, kTasks);
  field("kind", kind, "kind of model, named as its section below; empty: the first of the task");
  field("model", model, "folder to train into");
  field(
      "train_sets", train_sets,
      "source and target, or one file with tabs; plain or gzip; or the folder of a packed corpus; "
      "recognise: a folder, a CIFAR-10 file or two idx files; caption: an idx file of pictures and "
      "a text file; read and answer: any number of files");
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
  field("shuffle_window", shuffle_window,
        "packed corpora: number of pairs that are shuffled together; their lengths are in memory",
        {.min = 1, .max = 1 << 30});
  field("block_length", block_length, "language: tokens of a row", {.min = 1, .max = 1 << 20});
  field("aligned_blocks", aligned_blocks,
        "language: whether rows begin at multiples of block_length rather than anywhere");
  field("valid_share", valid_share,
        "language and answer: share of the training set used for validation if valid_sets is empty",
        {.min = 0, .max = 1});
  field("pictures", pictures, "recognise: how pictures are read");
  field("augmentation", augmentation, "recognise: random changes of pictures in training");
  field("label_smoothing", label_smoothing, "label smoothing; none: 0.1 for translate, otherwise 0",
        {.min = 0, .max = 1});
  field("checkpoint_activations", checkpoint_activations,
        "recompute the activations of layers in the backward pass: less memory, more time");
  field("cpu_threads", cpu_threads, "number of threads; 0: as many as the machine has",
        {.min = 0, .max = kMaxThreads});
  field("reinforce", reinforce, "how attention that samples positions (\"hard\") learns");
  field("validation", validation, "metrics of validation");
  trainer.fields(field);
  models.fields(field);
}

double TrainConfig::smoothing() const {
  const TrainingTask* const training = find_training_task(task);
  return label_smoothing.value_or(training != nullptr ? training->label_smoothing : 0.0);
}

void TrainConfig::validate() const {
  io::check_limits(*this, "train");
  trainer.validate();
  model_kind();
  HEED_CHECK(start_from.empty() || vocabs.empty(),
             "[train] start_from and vocabs: the model that training goes on from has its own "
             "vocabularies; leave vocabs out");
  lora.validate();
  reinforce.validate();
  HEED_CHECK(reinforce.reward == LabelReward::likelihood || task == Task::classify ||
                 task == Task::recognise,
             "[train] reinforce.reward = \"{}\": it counts labels, and task \"{}\" has tokens; use "
             "\"likelihood\"",
             io::enum_name(reinforce.reward), io::enum_name(task));
  HEED_CHECK(lora.rank == 0 || !start_from.empty(),
             "[train] lora.rank = {}: adapters correct a trained model; name one with start_from",
             lora.rank);
  const TrainingTask* const training = find_training_task(task);
  HEED_CHECK(training != nullptr,
             "[train] task \"{}\": training has the tasks {}; models of masked tokens are read "
             "from Hugging Face folders",
             io::enum_name(task), list_training_tasks("and"));
  HEED_CHECK(vocabs.size() <= 2, "[train] {} vocabs: give one for both sides, or one each",
             vocabs.size());
  HEED_CHECK(
      std::cmp_less_equal(std::max(train_sets.size(), valid_sets.size()), training->max_sets),
      "[train] {} train_sets and {} valid_sets: {}", train_sets.size(), valid_sets.size(),
      training->max_sets == 1 ? "this task has one file each"
                              : "give source and target, or one file");
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
  const std::vector<std::string> given = judgements_of(*this, *training);
  const bool is_validated = !valid_sets.empty() || (training->splits_its_set && valid_share > 0.0);
  HEED_CHECK(!is_validated || std::ranges::find(given, trainer.stop_on) != given.end(),
             "[train] stop_on = {}, but validation gives {}: name one of those",
             io::in_quotes(trainer.stop_on), fmt::join(given, ", "));
}

}  // namespace heed
