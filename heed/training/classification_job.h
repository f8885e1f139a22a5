// Training of a text classifier: batches of labelled lines, cross entropy of the label, and
// validation by loss and accuracy.
#pragma once

#include <memory>

#include "heed/data/labelled_text.h"
#include "heed/generation/text_model.h"
#include "heed/training/job.h"
#include "heed/training/stream_settings.h"

namespace heed {

struct ClassificationJobOptions {
  double label_smoothing = 0.0;
  BatchingOptions batching = {};
};

class ClassificationJob : public Job {
 public:
  /// The validation corpus may be null.
  ClassificationJob(TextClassifier classifier, std::shared_ptr<const LabelledCorpus> training,
                    std::shared_ptr<const LabelledCorpus> validation,
                    const ClassificationJobOptions& options);

  Module& model() override { return *classifier_.model; }
  BatchLoss next() override;
  StreamPosition position() const override { return stream_.position(); }
  void seek(const StreamPosition& position) override { stream_.seek(position); }
  std::vector<StreamSetting> stream_settings() const override {
    return settings_of(options_.batching);
  }
  double epoch_share() const override;
  /// Loss and accuracy, in percent.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  TextClassifier classifier_;
  LabelledStream stream_;
  std::shared_ptr<const LabelledCorpus> validation_;
  ClassificationJobOptions options_;
};

}  // namespace heed
