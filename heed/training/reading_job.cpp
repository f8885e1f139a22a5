#include "heed/training/reading_job.h"

#include <optional>

#include "heed/attention/variants/attention_over_attention.h"
#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/training/vocabularies.h"

namespace heed {
namespace {

// The sum of -log p(answer); p: probabilities [B, T] of the words. A probability that is 0 in f32
// must not make the loss infinite.
Tensor answer_loss(const Tensor& p, const ClozeBatch& batch) {
  constexpr double kLeast = 1e-12;
  return -sum(log(candidate_scores(p, batch.candidates, batch.answers) + kLeast));
}

}  // namespace

ReadingJob::ReadingJob(ClozeReader reader, std::shared_ptr<const ClozeCorpus> training,
                       std::shared_ptr<const ClozeCorpus> validation,
                       const BatchingOptions& options)
    : StreamJob(settings_of(options), std::move(training), options),
      reader_(std::move(reader)),
      validation_(std::move(validation)),
      options_(options) {}

BatchLoss ReadingJob::next() {
  const std::optional<ClozeBatch> batch = stream_.next_part();
  if (!batch) return {};
  const std::int64_t B = batch->answers.size(0);
  BatchLoss loss{.counted = B, .source_tokens = batch->word_count, .target_tokens = B};
  loss.sum = answer_loss((*reader_.model)(passages_of(*batch)), *batch);
  loss.negative_log_likelihood = loss.sum.item();
  return loss;
}

std::vector<Judgement> ReadingJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  const BatchPlan plan = plan_epoch(lengths_of(*validation_), in_order(options_), 0);
  double sum = 0.0, right = 0.0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const ClozeBatch batch = make_batch(*validation_, plan.rows(i));
    const Tensor p = (*reader_.model)(passages_of(batch));  // [B, T]
    sum += answer_loss(p, batch).item();
    const std::int64_t* answer = batch.answers.data<std::int64_t>();
    for (const BestCandidate& best : best_candidates(p, batch.candidates)) {
      right += best.number == *answer++ ? 1.0 : 0.0;
    }
  }
  const auto questions = static_cast<double>(validation_->size());
  return {{"loss", sum / questions}, {"accuracy", 100.0 * right / questions, true}};
}

void ReadingJob::save(const std::filesystem::path& folder) const { save_model(reader_, folder); }

// ---- from a config ------------------------------------------------------------------------------

namespace {

// The questions of some files.
std::shared_ptr<const ClozeCorpus> read_sets(const JobRequest& request,
                                             const std::vector<std::string>& paths,
                                             const Tokenizer& tokenizer) {
  auto corpus = std::make_shared<ClozeCorpus>();
  const std::int64_t longest = request.config.max_length;
  for (const std::string& path : paths) {
    BadLines bad;
    std::int64_t long_ones = 0;
    const std::int64_t before = corpus->size();
    read_cloze(path, request.config.on_bad, bad, [&](const ClozeQuestion& question) {
      const bool is_long = longest > 0 && std::ssize(question.passage) > longest;
      is_long ? static_cast<void>(++long_ones) : corpus->add(question, tokenizer);
    });
    std::string note = fmt::format("{}: {} questions", path, corpus->size() - before);
    if (long_ones > 0) note += fmt::format("; {} passages are longer than {}", long_ones, longest);
    if (bad.total() > 0) note += "; skipped: " + bad.describe();
    request.notes.push_back(std::move(note));
    HEED_CHECK(corpus->size() > before,
               "[train] {}: there is no question in it; a passage has lines NUMBER ||| SENTENCE, "
               "and the last is NUMBER ||| QUESTION ||| ANSWER",
               path);
  }
  return corpus;
}

void count_cloze_words(const TrainConfig& config, TokenCounter& counter) {
  for (const std::string& path : config.train_sets) {
    BadLines bad;
    read_cloze(path, config.on_bad, bad, [&](const ClozeQuestion& question) {
      for (const std::string& word : question.passage) counter.add(word);
      for (const std::string& word : question.question) counter.add(word);
    });
  }
}

}  // namespace

std::unique_ptr<Job> make_reading(const JobRequest& request) {
  const TrainConfig& config = request.config;
  ClozeReader reader;
  if (request.begin) {
    reader = load_cloze_reader(*request.begin);
  } else {
    reader.tokenizer =
        make_word_list(config, [&](TokenCounter& counter) { count_cloze_words(config, counter); });
  }
  const auto training = read_sets(request, config.train_sets, *reader.tokenizer);
  std::shared_ptr<const ClozeCorpus> validation;
  if (!config.valid_sets.empty()) {
    validation = read_sets(request, config.valid_sets, *reader.tokenizer);
  }
  if (!reader.model) {
    reader.model =
        new_model<ReadingModel>(config, {.target_vocabulary = reader.tokenizer->size(),
                                         .padding = reader.tokenizer->special().padding});
  }
  return std::make_unique<ReadingJob>(std::move(reader), training, validation, batching_of(config));
}

}  // namespace heed
