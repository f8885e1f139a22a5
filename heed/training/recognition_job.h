// Training of a model of pictures: batches of labelled pictures, cross entropy of the label, the
// loss of what the model samples, and validation by loss and accuracy.
#pragma once

#include <memory>

#include "heed/data/picture_stream.h"
#include "heed/generation/recognise.h"
#include "heed/training/sampled_loss.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

struct RecognitionJobOptions {
  double label_smoothing = 0.0;
  PictureStreamOptions stream = {};  // its scale is that of the classifier
  SampledLossConfig sampled = {};    // for models that sample where they look
};

class RecognitionJob : public StreamJob<PictureStream> {
 public:
  /// The validation set may be null.
  RecognitionJob(PictureClassifier classifier, std::shared_ptr<const PictureSet> training,
                 std::shared_ptr<const PictureSet> validation,
                 const RecognitionJobOptions& options);

  Module& model() override { return *classifier_.model; }
  BatchLoss next() override;
  JobState state() const override { return sampled_loss_.state(); }
  void restore(const JobState& state) override { sampled_loss_.restore(state); }
  /// Loss and accuracy, in percent.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  PictureClassifier classifier_;
  RecognitionJobOptions options_;
  std::shared_ptr<const PictureSet> validation_;
  SampledLoss sampled_loss_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_recognition(const JobRequest& request);

inline constexpr TrainingTask kRecognising{
    .task = Task::recognise, .what = "pictures", .make = make_recognition, .max_sets = 2};

}  // namespace heed
