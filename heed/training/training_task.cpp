#include "heed/training/training_task.h"

#include <algorithm>

#include "heed/training/answering_job.h"
#include "heed/training/captioning_job.h"
#include "heed/training/classification_job.h"
#include "heed/training/copying_job.h"
#include "heed/training/embedding_job.h"
#include "heed/training/language_job.h"
#include "heed/training/pointing_job.h"
#include "heed/training/reading_job.h"
#include "heed/training/recognition_job.h"
#include "heed/training/translation_job.h"

namespace heed {
namespace {

// clang-format off
constinit const TrainingTask* const kTasks[] = {
    &kTranslating,
    &kLanguageModelling,
    &kClassifying,
    &kEmbedding,
    &kRecognising,
    &kPointing,
    &kCopying,
    &kReading,
    &kAnswering,
    &kCaptioning,
};
// clang-format on

}  // namespace

const TrainingTask* find_training_task(Task task) {
  const auto* const found = std::ranges::find(kTasks, task, [](const auto* t) { return t->task; });
  return found != std::end(kTasks) ? *found : nullptr;
}

std::string list_training_tasks(std::string_view word, bool with_notes) {
  std::string text;
  for (std::size_t i = 0; i < std::size(kTasks); ++i) {
    const TrainingTask& task = *kTasks[i];
    if (i > 0) text += i + 1 < std::size(kTasks) ? ", " : fmt::format(" {} ", word);
    text += io::enum_name(task.task);
    if (with_notes && !task.what.empty()) text += fmt::format(" ({})", task.what);
  }
  return text;
}

BatchingOptions batching_of(const TrainConfig& config) {
  return {.batch_tokens = config.batch_tokens,
          .batch_sentences = config.batch_sentences,
          .seed = config.trainer.seed};
}

std::int64_t longest_text(const TrainConfig& config, std::int64_t model) {
  return config.max_length > 0 ? std::min(config.max_length, model) : model;
}

}  // namespace heed
