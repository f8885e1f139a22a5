#include "heed/training/classification_job.h"

#include <algorithm>
#include <optional>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/generation/new_head.h"
#include "heed/generation/text_reader.h"
#include "heed/io/lines.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/order.h"
#include "heed/ops/reduce.h"
#include "heed/training/vocabularies.h"

namespace heed {

ClassificationJob::ClassificationJob(TextClassifier classifier,
                                     std::shared_ptr<const LabelledCorpus> training,
                                     std::shared_ptr<const LabelledCorpus> validation,
                                     const ClassificationJobOptions& options)
    : StreamJob(settings_of(options.batching), std::move(training), options.batching),
      classifier_(std::move(classifier)),
      validation_(std::move(validation)),
      options_(options),
      sampled_loss_(*classifier_.model, options.sampled) {}

BatchLoss ClassificationJob::next() {
  const std::optional<LabelledBatch> part = stream_.next_part();
  if (!part) return {};
  const LabelledBatch& batch = *part;
  std::vector<Sampled> samples;
  std::optional<RecordSamples> record;
  if (sampled_loss_.is_needed()) record.emplace(samples);
  const auto [scores, penalty] = classifier_.model->judge({batch.tokens, batch.lengths});
  record.reset();
  BatchLoss loss = label_loss({scores, batch.labels}, options_.label_smoothing);
  if (penalty.defined()) loss.sum = loss.sum + sum(penalty);
  loss.source_tokens = batch.token_count;
  sampled_loss_.add_labels(std::move(samples), batch.lengths, {scores, batch.labels}, loss);
  return loss;
}

std::vector<Judgement> ClassificationJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  const BatchPlan plan = plan_epoch(lengths_of(*validation_), in_order(options_.batching), 0);
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

// ---- from a config ------------------------------------------------------------------------------

namespace {

// Lines without their labels, which a model must not read. read_labelled() handles invalid lines.
std::vector<std::string> labelled_texts(const std::filesystem::path& path) {
  io::LineReader reader(path);
  std::vector<std::string> texts;
  for (std::string line; reader.next(line);) texts.push_back(line.substr(line.find('\t') + 1));
  return texts;
}

// The classifier of a folder; if the run begins with a trained encoder, with the labels of the
// data.
TextClassifier load_classifier(const TrainConfig& config, const std::filesystem::path& begin) {
  if (begin != config.start_from) return load_text_classifier(begin);
  const std::vector<std::string> labels = read_labels(config.train_sets[0], config.on_bad);
  Generator generator(config.trainer.seed);
  return load_with_labels(begin, labels, generator);
}

}  // namespace

std::unique_ptr<Job> make_classification(const JobRequest& request) {
  const TrainConfig& config = request.config;
  const std::optional<std::filesystem::path>& begin = request.begin;
  std::vector<std::string>& notes = request.notes;
  std::optional<TextClassifier> saved;
  if (begin) saved = load_classifier(config, *begin);
  const std::shared_ptr<const Tokenizer> tokenizer =
      saved ? saved->tokenizer : make_tokenizer(config, labelled_texts);
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
                               .batching = batching_of(config),
                               .sampled = config.reinforce});
}

}  // namespace heed
