// Training of a language model on one long text: random blocks of it, cross entropy of every next
// token, and validation on blocks of the held-out text.
#pragma once

#include "heed/data/token_stream.h"
#include "heed/generation/text_model.h"
#include "heed/training/job.h"
#include "heed/training/sampled_loss.h"
#include "heed/training/training_task.h"

namespace heed {

struct LanguageJobOptions {
  BlockSize batch = {};
  double label_smoothing = 0.0;
  std::uint64_t seed = 1;
  SampledLossConfig sampled = {};  // for attention that samples positions
};

class LanguageJob : public Job {
 public:
  LanguageJob(TextGenerator generator, TokenStream training, TokenStream validation,
              const LanguageJobOptions& options);

  Module& model() override { return *generator_.model; }
  BatchLoss next() override;
  void take_parts(const BatchParts& parts) override { walk_ = PartWalk(parts); }
  /// An epoch is the number of batches that hold as many tokens as the text; blocks are drawn at
  /// random, so a token may occur more than once.
  StreamPosition position() const override;
  void seek(const StreamPosition& position) override;
  JobState state() const override { return sampled_loss_.state(); }
  void restore(const JobState& state) override { sampled_loss_.restore(state); }
  std::vector<StreamSetting> stream_settings() const override;
  double epoch_share() const override;
  /// Loss and perplexity.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  BatchLoss loss_of(const TokenBlocks& blocks, double smoothing, SampledPass* pass = nullptr) const;
  std::int64_t epoch_batches() const;

  TextGenerator generator_;
  TokenStream training_, validation_;
  LanguageJobOptions options_;
  SampledLoss sampled_loss_;
  std::int64_t batches_ = 0;  // number drawn so far
  PartWalk walk_;
};

/// Makes the job of a config.
std::unique_ptr<Job> make_language(const JobRequest& request);

inline constexpr std::string_view kLossAndPerplexity[] = {"loss", "perplexity"};

inline constexpr TrainingTask kLanguageModelling{.task = Task::language,
                                                 .what = "a language model",
                                                 .make = make_language,
                                                 .judgements = kLossAndPerplexity,
                                                 .splits_its_set = true};

}  // namespace heed
