// A translator in training.
#pragma once

#include <vector>

#include "benchmarks/models/cases.h"
#include "benchmarks/models/corpus.h"
#include "heed/models/transformer.h"
#include "heed/training/optimizer.h"

namespace heed::bench {

class TrainedTranslator : public TrainedModel {
 public:
  /// The vocabulary sizes of the config are set to that of the corpus.
  TrainedTranslator(TransformerConfig config, const CorpusShape& corpus);

  std::int64_t batches() const override { return std::ssize(batches_); }
  std::int64_t tokens(std::int64_t batch) const override { return at(batch).target_tokens; }
  Tensor forward(std::int64_t batch, Mark mark) override;
  void update() override { repeat_step(optimizer_); }
  void save(const std::filesystem::path& path) override;
  Module& module() override { return model_; }

  Transformer& model() { return model_; }
  const Batch& at(std::int64_t batch) const { return batches_[static_cast<std::size_t>(batch)]; }

 private:
  std::vector<Batch> batches_;
  Generator generator_;
  Transformer model_;
  Adam optimizer_;
};

/// The Transformer of Vaswani et al. 2017 in the small size that Wu et al. 2021 use for Multi30k.
TransformerConfig transformer_tiny();

}  // namespace heed::bench
