// A recurrent translator in training: Bahdanau's, or Luong's without input feeding.
#pragma once

#include <vector>

#include "benchmarks/models/cases.h"
#include "benchmarks/models/corpus.h"
#include "heed/models/recurrent_translator.h"
#include "heed/training/optimizer.h"

namespace heed::bench {

class TrainedRecurrent : public TrainedModel {
 public:
  /// The vocabulary sizes of the config are set to that of the corpus.
  TrainedRecurrent(RecurrentTranslatorConfig config, const CorpusShape& corpus);

  std::int64_t batches() const override { return std::ssize(batches_); }
  std::int64_t tokens(std::int64_t batch) const override { return at(batch).target_tokens; }
  Tensor forward(std::int64_t batch, Mark mark) override;
  void update() override { repeat_step(optimizer_); }
  void save(const std::filesystem::path& path) override;
  Module& module() override { return model_; }

 private:
  const Batch& at(std::int64_t batch) const { return batches_[static_cast<std::size_t>(batch)]; }

  std::vector<Batch> batches_;
  Generator generator_;
  RecurrentTranslator model_;
  Adam optimizer_;
};

/// Bidirectional GRU, additive attention that feeds the cells, readout [state; context; embedding].
RecurrentTranslatorConfig bahdanau_translator();
/// LSTM of two layers, general attention after the whole recurrence, readout tanh(W_c [c; s]).
RecurrentTranslatorConfig luong_translator();

}  // namespace heed::bench
