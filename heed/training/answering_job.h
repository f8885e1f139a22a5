// Training of a model that answers questions about stories: cross entropy of the answer, and
// validation by loss and accuracy.
#pragma once

#include <memory>

#include "heed/generation/story_answerer.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

class AnsweringJob : public StreamJob<StoryStream> {
 public:
  /// The validation corpus may be null.
  AnsweringJob(StoryAnswerer answerer, std::shared_ptr<const StoryCorpus> training,
               std::shared_ptr<const StoryCorpus> validation, const BatchingOptions& options);

  Module& model() override { return *answerer_.model; }
  BatchLoss next() override;
  /// Loss of a question, and accuracy in percent. An answer that is not in the vocabulary is wrong.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  StoryAnswerer answerer_;
  std::shared_ptr<const StoryCorpus> validation_;
  BatchingOptions options_;
};

/// Makes the job of a config. Without valid_sets, the last stories of every file are held out.
std::unique_ptr<Job> make_answering(const JobRequest& request);

inline constexpr TrainingTask kAnswering{.task = Task::answer,
                                         .what = "questions about stories",
                                         .make = make_answering,
                                         .max_sets = TrainingTask::kAnyNumber,
                                         .splits_its_set = true};

}  // namespace heed
