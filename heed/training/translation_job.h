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
#include "heed/training/stream_settings.h"

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
};

class TranslationJob : public Job {
 public:
  TranslationJob(Translator translator, std::shared_ptr<const ParallelCorpus> corpus,
                 TranslationValidation validation, const TranslationJobOptions& options);

  Module& model() override { return translator_.model(); }
  BatchLoss next() override;
  StreamPosition position() const override { return stream_.position(); }
  void seek(const StreamPosition& position) override { stream_.seek(position); }
  std::vector<StreamSetting> stream_settings() const override {
    return settings_of(options_.batching);
  }
  double epoch_share() const override;
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

  const Translator& translator() const { return translator_; }

 private:
  BatchLoss loss_of(const Batch& batch, double smoothing) const;
  double mean_loss() const;

  Translator translator_;
  BatchStream stream_;
  TranslationValidation validation_;
  TranslationJobOptions options_;
};

}  // namespace heed
