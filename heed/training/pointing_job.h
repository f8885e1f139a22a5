// Training of a model that points: batches of sets of elements, cross entropy of each position, and
// validation by loss and by the share of sets whose positions are all right.
#pragma once

#include <memory>

#include "heed/data/element_sets.h"
#include "heed/generation/point.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

class PointingJob : public StreamJob<ElementStream> {
 public:
  /// The validation corpus may be null.
  PointingJob(ElementPointer pointer, std::shared_ptr<const ElementCorpus> training,
              std::shared_ptr<const ElementCorpus> validation, const BatchingOptions& options);

  Module& model() override { return *pointer_.model; }
  BatchLoss next() override;
  /// Loss of a position, and accuracy: sets whose positions are all right, in percent.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  ElementPointer pointer_;
  std::shared_ptr<const ElementCorpus> validation_;
  BatchingOptions options_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_pointing(const JobRequest& request);

inline constexpr TrainingTask kPointing{
    .task = Task::point, .what = "at elements of sets", .make = make_pointing};

}  // namespace heed
