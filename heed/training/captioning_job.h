// Training of a captioner: batches of pictures with captions, cross entropy of the tokens, the loss
// of what attention samples, and validation by loss, by the share of captions that are entirely
// right, and by BLEU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/captioned_pictures.h"
#include "heed/data/picture_stream.h"
#include "heed/data/token_rows.h"
#include "heed/evaluation/bleu_tokenizer.h"
#include "heed/generation/caption.h"
#include "heed/training/sampled_loss.h"
#include "heed/training/stream_job.h"
#include "heed/training/training_task.h"

namespace heed {

/// Pictures with captions, and the tokens of the captions.
struct CaptionCorpus {
  std::shared_ptr<const PictureSet> pictures;  ///< A picture's label is its number.
  std::vector<std::string> captions;
  TokenRows tokens;

  CaptionCorpus(CaptionedPictures data, const Tokenizer& tokenizer);
  /// What the decoder reads and writes for the pictures of those numbers, i64 [B].
  TargetBatch targets(const Tensor& numbers, const SpecialTokens& special) const;
};

struct CaptioningJobOptions {
  double label_smoothing = 0.0;
  PictureStreamOptions stream = {};         // its scale is that of the captioner
  SearchOptions search = caption_search();  // of validation
  evaluation::BleuTokenizer tokenizer = evaluation::BleuTokenizer::v13a;
  SampledLossConfig sampled = {};  // for attention that samples positions
};

class CaptioningJob : public StreamJob<PictureStream> {
 public:
  /// The validation corpus may be null.
  CaptioningJob(PictureCaptioner captioner, std::shared_ptr<const CaptionCorpus> training,
                std::shared_ptr<const CaptionCorpus> validation,
                const CaptioningJobOptions& options);

  Module& model() override { return *captioner_.model; }
  BatchLoss next() override;
  JobState state() const override { return sampled_loss_.state(); }
  void restore(const JobState& state) override { sampled_loss_.restore(state); }
  /// Loss of a token, accuracy (captions that are entirely right, in percent) and BLEU.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  BatchLoss loss_of(const CaptionCorpus& corpus, const PictureBatch& batch, double smoothing,
                    SampledPass* pass = nullptr) const;

  PictureCaptioner captioner_;
  CaptioningJobOptions options_;
  std::shared_ptr<const CaptionCorpus> training_, validation_;
  SampledLoss sampled_loss_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_captioning(const JobRequest& request);

inline constexpr std::string_view kCaptionJudgements[] = {"loss", "accuracy", "bleu"};

inline constexpr TrainingTask kCaptioning{.task = Task::caption,
                                          .what = "pictures with texts",
                                          .make = make_captioning,
                                          .max_sets = 2,
                                          .judgements = kCaptionJudgements};

}  // namespace heed
