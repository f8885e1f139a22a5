// The task of a trainer: a model, an endless stream of batches, and validation. Translation,
// language models and classification are jobs; the trainer handles the training itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/epoch_stream.h"
#include "heed/nn/module.h"

namespace heed {

/// The loss of one batch.
struct BatchLoss {
  Tensor sum = {};                       ///< Sum over all counted elements, on the tape.
  double negative_log_likelihood = 0.0;  ///< The same sum without label smoothing, in nats.
  std::int64_t counted = 0;              ///< Number of tokens (or texts) in the sum.
  std::int64_t source_tokens = 0;        ///< Read.
  std::int64_t target_tokens = 0;        ///< Written.
};

/// A metric computed by validation.
struct Judgement {
  std::string name;  ///< "loss", "perplexity", "bleu", …
  double value = 0.0;
  bool higher_is_better = false;
};

/// A setting that determines the batches of a job.
struct StreamSetting {
  std::string key;  ///< "batch_tokens"
  std::int64_t value = 0;
};

class Job {
 public:
  virtual ~Job() = default;

  virtual Module& model() = 0;
  /// The loss of the next batch; the model is in training mode.
  virtual BatchLoss next() = 0;
  /// The position in the stream of batches, for resuming.
  virtual StreamPosition position() const = 0;
  virtual void seek(const StreamPosition& position) = 0;
  /// The settings that determine the batches: a position inside an epoch is valid only for a job
  /// with the same ones. Empty: positions are always valid.
  virtual std::vector<StreamSetting> stream_settings() const { return {}; }
  /// The completed share of the current epoch, from 0 to 1.
  virtual double epoch_share() const = 0;
  /// The metrics of the model, in evaluation mode, on the validation set; empty if there is none.
  virtual std::vector<Judgement> validate() = 0;
  /// Writes the model and the files that belong to it into a folder.
  virtual void save(const std::filesystem::path& folder) const = 0;
};

}  // namespace heed
