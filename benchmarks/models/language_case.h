// A language model in training: the size of nanoGPT's configuration for CPUs, on characters.
#pragma once

#include "benchmarks/models/cases.h"
#include "heed/models/language_model.h"
#include "heed/training/optimizer.h"

namespace heed::bench {

class TrainedLanguageModel : public TrainedModel {
 public:
  TrainedLanguageModel();

  std::int64_t batches() const override { return 1; }
  std::int64_t tokens(std::int64_t batch) const override;
  Tensor forward(std::int64_t batch, Mark mark) override;
  void update() override;
  void save(const std::filesystem::path& path) override;
  Module& module() override { return model_; }

 private:
  Generator generator_;
  LanguageModel model_;
  AdamW optimizer_;
  Tensor ids_, expected_;  // [B, T]
};

}  // namespace heed::bench
