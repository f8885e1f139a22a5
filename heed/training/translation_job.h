// Training of a translator: batches of a parallel corpus, label-smoothed cross entropy, and
// validation by loss and by scores of translations.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/data/batch_stream.h"
#include "heed/evaluation/bleu_tokenizer.h"
#include "heed/generation/translator.h"
#include "heed/training/job.h"
#include "heed/training/sampled_loss.h"
#include "heed/training/stream_settings.h"
#include "heed/training/training_task.h"

namespace heed {

/// The validation set.
struct TranslationValidation {
  std::shared_ptr<const ParallelCorpus> corpus;  ///< For the loss; null: no validation set.
  std::vector<std::string> sources;              ///< Sentences to translate.
  std::vector<std::vector<std::string>>
      references;  ///< One list or more, with a line for each source.
};

struct TranslationJobOptions {
  double label_smoothing = 0.1;
  BatchingOptions batching = {};
  std::vector<std::string> metrics = {"loss", "perplexity"};
  evaluation::BleuTokenizer tokenizer = evaluation::BleuTokenizer::v13a;
  TranslateOptions translate = {};
  SampledLossConfig sampled = {};                   // for attention that samples positions
  std::vector<StreamSetting> stream_settings = {};  // of the stream, besides batching
};

class TranslationJob : public Job {
 public:
  TranslationJob(Translator translator, std::unique_ptr<EpochStream<Batch>> stream,
                 TranslationValidation validation, const TranslationJobOptions& options);
  /// Trains on batches of a corpus.
  TranslationJob(Translator translator, std::shared_ptr<const ParallelCorpus> corpus,
                 TranslationValidation validation, const TranslationJobOptions& options);

  Module& model() override { return translator_.model(); }
  BatchLoss next() override;
  void take_parts(const BatchParts& parts) override { stream_->take_parts(parts); }
  StreamPosition position() const override { return stream_->position(); }
  void seek(const StreamPosition& position) override { stream_->seek(position); }
  JobState state() const override { return sampled_loss_.state(); }
  void restore(const JobState& state) override { sampled_loss_.restore(state); }
  std::vector<StreamSetting> stream_settings() const override;
  double epoch_share() const override { return stream_->epoch_share(); }
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

  const Translator& translator() const { return translator_; }

 private:
  BatchLoss loss_of(const Batch& batch, double smoothing, SampledPass* pass = nullptr) const;
  double mean_loss() const;

  Translator translator_;
  std::unique_ptr<EpochStream<Batch>> stream_;
  TranslationValidation validation_;
  TranslationJobOptions options_;
  SampledLoss sampled_loss_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_translation(const JobRequest& request);

inline constexpr TrainingTask kTranslating{.task = Task::translate,
                                           .what = "",
                                           .make = make_translation,
                                           .max_sets = 2,
                                           .judgements = {},
                                           .label_smoothing = 0.1};

}  // namespace heed
