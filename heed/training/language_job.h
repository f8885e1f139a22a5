// Training a language model on one long text: random blocks of it, cross entropy of every next
// token, and validation on blocks of the text held out.
#pragma once

#include "heed/data/token_stream.h"
#include "heed/generation/text_model.h"
#include "heed/training/job.h"

namespace heed {

struct LanguageJobOptions {
  BlockSize batch = {};
  double label_smoothing = 0.0;
  std::uint64_t seed = 1;
};

class LanguageJob : public Job {
 public:
  LanguageJob(TextGenerator generator, TokenStream training, TokenStream validation,
              const LanguageJobOptions& options);

  Module& model() override { return *generator_.model; }
  BatchLoss next() override;
  /// An epoch is as many batches as hold the tokens of the text once, though they are drawn anew.
  StreamPosition position() const override;
  void seek(const StreamPosition& position) override;
  double epoch_share() const override;
  /// Loss and perplexity.
  std::vector<Judgement> validate() override;
  void save(const std::filesystem::path& folder) const override;

 private:
  BatchLoss loss_of(const TokenBlocks& blocks, double smoothing) const;
  std::int64_t epoch_batches() const;

  TextGenerator generator_;
  TokenStream training_, validation_;
  LanguageJobOptions options_;
  std::int64_t batches_ = 0;  // drawn so far
};

}  // namespace heed
