#include "heed/training/answering_job.h"

#include <cmath>
#include <optional>

#include "heed/autograd/tape.h"
#include "heed/base/error.h"
#include "heed/generation/model_folder.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/order.h"
#include "heed/training/vocabularies.h"

namespace heed {
namespace {

StoryBatching training_batches(const AnsweringModel& model, std::uint64_t seed) {
  return {.max_sentences = model.max_sentences(), .noise = model.noise(), .seed = seed};
}

}  // namespace

AnsweringJob::AnsweringJob(StoryAnswerer answerer, std::shared_ptr<const StoryCorpus> training,
                           std::shared_ptr<const StoryCorpus> validation,
                           const BatchingOptions& options)
    : StreamJob(settings_of(options), std::move(training),
                training_batches(*answerer.model, options.seed), options),
      answerer_(std::move(answerer)),
      validation_(std::move(validation)),
      options_(options) {}

BatchLoss AnsweringJob::next() {
  answerer_.model->begin_epoch(stream_.position().epoch);
  const std::optional<StoryBatch> batch = stream_.next_part();
  if (!batch) return {};
  const std::int64_t B = batch->answers.numel();
  BatchLoss loss{.counted = B, .source_tokens = batch->word_count, .target_tokens = B};
  loss.sum = cross_entropy((*answerer_.model)(stories_of(*batch)), batch->answers,
                           {.reduction = Reduction::sum});
  loss.negative_log_likelihood = loss.sum.item();
  return loss;
}

std::vector<Judgement> AnsweringJob::validate() {
  if (!validation_ || validation_->size() == 0) return {};
  const NoGrad no_grad;
  const std::int64_t sentences = answerer_.model->max_sentences();
  const BatchPlan plan = plan_epoch(lengths_of(*validation_, sentences), in_order(options_), 0);
  const std::int64_t unknown = answerer_.tokenizer->special().unknown;
  double sum = 0.0, right = 0.0;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    const StoryBatch batch = make_batch(*validation_, plan.rows(i), {.max_sentences = sentences});
    const Tensor scores = (*answerer_.model)(stories_of(batch));  // [B, V]
    sum += cross_entropy(scores, batch.answers, {.reduction = Reduction::sum}).item();
    const std::int64_t* answer = batch.answers.data<std::int64_t>();
    for (const std::int64_t said : argmax(scores).to_vector<std::int64_t>()) {
      right += said == *answer && said != unknown ? 1.0 : 0.0;
      ++answer;
    }
  }
  const auto questions = static_cast<double>(validation_->size());
  return {{"loss", sum / questions}, {"accuracy", 100.0 * right / questions, true}};
}

void AnsweringJob::save(const std::filesystem::path& folder) const {
  save_model(answerer_, folder);
}

// ---- from a config ------------------------------------------------------------------------------

namespace {

// The questions of a file.
StoryCorpus read_set(const JobRequest& request, const std::string& path,
                     const Tokenizer& tokenizer) {
  StoryCorpus corpus;
  BadLines bad;
  read_stories(path, request.config.on_bad, bad,
               [&](const StoryQuestion& question) { corpus.add(question, tokenizer); });
  request.notes.push_back(fmt::format(
      "{}: {} questions about {} sentences{}", path, corpus.size(), corpus.sentences.size(),
      bad.total() > 0 ? "; skipped: " + bad.describe() : std::string()));
  HEED_CHECK(corpus.size() > 0,
             "[train] {}: there is no question in it; lines must be a number and a sentence, or a "
             "number, a question, a tab and its answer",
             path);
  return corpus;
}

void count_story_words(const TrainConfig& config, TokenCounter& counter) {
  const auto add = [&](const std::vector<std::string>& words) {
    for (const std::string& word : words) counter.add(word);
  };
  for (const std::string& path : config.train_sets) {
    BadLines bad;
    std::size_t counted = 0;  // sentences of the story
    read_stories(path, config.on_bad, bad, [&](const StoryQuestion& question) {
      if (!question.continues) counted = 0;
      for (; counted < question.sentences.size(); ++counted) add(question.sentences[counted]);
      add(question.question);
      counter.add(question.answer);
    });
  }
}

}  // namespace

std::unique_ptr<Job> make_answering(const JobRequest& request) {
  const TrainConfig& config = request.config;
  StoryAnswerer answerer;
  if (request.begin) {
    answerer = load_story_answerer(*request.begin);
  } else {
    answerer.tokenizer =
        make_word_list(config, [&](TokenCounter& counter) { count_story_words(config, counter); });
  }
  const auto training = std::make_shared<StoryCorpus>();
  const auto validation = std::make_shared<StoryCorpus>();
  const double share = config.valid_sets.empty() ? config.valid_share : 0.0;
  for (const std::string& path : config.train_sets) {
    const StoryCorpus all = read_set(request, path, *answerer.tokenizer);
    const auto held_out =
        static_cast<std::int64_t>(std::floor(share * static_cast<double>(all.size())));
    const std::int64_t cut = held_out > 0 ? all.first_of_story(all.size() - held_out) : all.size();
    training->append(all, 0, cut);
    validation->append(all, cut, all.size());
  }
  HEED_CHECK(training->size() > 0,
             "[train] valid_share = {}: the stories are so few that none is left to train on; give "
             "valid_sets, or valid_share = 0",
             config.valid_share);
  for (const std::string& path : config.valid_sets) {
    const StoryCorpus all = read_set(request, path, *answerer.tokenizer);
    validation->append(all, 0, all.size());
  }
  if (!answerer.model) {
    answerer.model =
        new_model<AnsweringModel>(config, {.target_vocabulary = answerer.tokenizer->size(),
                                           .padding = answerer.tokenizer->special().padding});
  }
  return std::make_unique<AnsweringJob>(std::move(answerer), training, validation,
                                        batching_of(config));
}

}  // namespace heed
