// Training of a text classifier: batches of labelled lines, cross entropy of the label, and
// validation by loss and accuracy.
#pragma once

#include <memory>

#include "heed/data/labelled_text.h"
#include "heed/generation/text_model.h"
#include "heed/training/sampled_loss.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

struct ClassificationJobOptions {
  double label_smoothing = 0.0;
  BatchingOptions batching = {};
  SampledLossConfig sampled = {};  // for attention that samples positions
};

class ClassificationJob : public StreamJob<LabelledStream> {
 public:
  /// The validation corpus may be null.
  ClassificationJob(TextClassifier classifier, std::shared_ptr<const LabelledCorpus> training,
                    std::shared_ptr<const LabelledCorpus> validation,
                    const ClassificationJobOptions& options);

  Module& model() override { return *classifier_.model; }
  BatchLoss next() override;
  JobState state() const override { return sampled_loss_.state(); }
  void restore(const JobState& state) override { sampled_loss_.restore(state); }
  /// Loss and accuracy, in percent.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  TextClassifier classifier_;
  std::shared_ptr<const LabelledCorpus> validation_;
  ClassificationJobOptions options_;
  SampledLoss sampled_loss_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_classification(const JobRequest& request);

inline constexpr TrainingTask kClassifying{
    .task = Task::classify, .what = "", .make = make_classification};

}  // namespace heed
