// Training of a model that answers cloze questions: -log of the answer's probability, and
// validation by loss and accuracy.
#pragma once

#include <memory>

#include "heed/generation/cloze_reader.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

class ReadingJob : public StreamJob<ClozeStream> {
 public:
  /// The validation corpus may be null.
  ReadingJob(ClozeReader reader, std::shared_ptr<const ClozeCorpus> training,
             std::shared_ptr<const ClozeCorpus> validation, const BatchingOptions& options);

  Module& model() override { return *reader_.model; }
  BatchLoss next() override;
  /// Loss of a question, and accuracy in percent.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  ClozeReader reader_;
  std::shared_ptr<const ClozeCorpus> validation_;
  BatchingOptions options_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_reading(const JobRequest& request);

inline constexpr TrainingTask kReading{.task = Task::read,
                                       .what = "cloze questions",
                                       .make = make_reading,
                                       .max_sets = TrainingTask::kAnyNumber};

}  // namespace heed
