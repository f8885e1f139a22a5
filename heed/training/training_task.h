// How the models of a task are trained: how its job is made from a config, and what the config may
// say. The entry of a task is below the class of its job; training_task.cpp lists the entries.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/training/job.h"
#include "heed/training/train_config.h"

namespace heed {

/// What a job is made from.
struct JobRequest {
  const TrainConfig& config;
  /// The folder of the model that training begins with; none: a new model.
  const std::optional<std::filesystem::path>& begin;
  std::vector<std::string>& notes;  ///< Receives what was read and what was skipped.
};

inline constexpr std::string_view kLossAndAccuracy[] = {"loss", "accuracy"};

struct TrainingTask {
  static constexpr std::int64_t kAnyNumber = std::int64_t{1} << 20;

  Task task;
  std::string_view what;  ///< For help, in parentheses; empty if the name says it.
  std::unique_ptr<Job> (*make)(const JobRequest& request);
  std::int64_t max_sets = 1;  ///< Files that train_sets and valid_sets have at most.
  /// The metrics of validation; empty: validation.metrics.
  std::span<const std::string_view> judgements = kLossAndAccuracy;
  double label_smoothing = 0.0;  ///< The default.
  bool splits_its_set = false;   ///< Without valid_sets, a share of train_sets is held out.
  bool has_reward = true;        ///< Samples of hard attention can learn.
};

/// The entry of a task, or null if no model of it is trained.
const TrainingTask* find_training_task(Task task);

/// "translate, language, … {word} recognise"; `with_notes` adds what each of them is.
std::string list_training_tasks(std::string_view word, bool with_notes = false);

// ---- for jobs -----------------------------------------------------------------------------------

/// A new model of the config's kind, as the interface of its task.
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

/// How sentences are put into batches.
BatchingOptions batching_of(const TrainConfig& config);

/// The most tokens of a text that a model reads.
std::int64_t longest_text(const TrainConfig& config, std::int64_t model);

}  // namespace heed
