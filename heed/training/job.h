// The task of a trainer: a model, an endless stream of batches, and validation. Translation,
// language models and classification are jobs; the trainer handles the training itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/batch_parts.h"
#include "heed/data/epoch_stream.h"
#include "heed/nn/module.h"

namespace heed {

/// What attention sampled in training (sampled_loss.h): sums over all samples.
struct SampleSums {
  double reward = 0.0;   ///< Log-likelihoods of tokens, in nats.
  double entropy = 0.0;  ///< Of the probabilities that the samples were drawn from, in nats.
  std::int64_t samples = 0;
};

/// What a job keeps from batch to batch besides model and position; checkpoints save it.
struct JobState {
  double baseline = 0.0;  ///< Of REINFORCE.
  std::int64_t baseline_updates = 0;
};

/// The loss of one batch.
struct BatchLoss {
  Tensor sum =
      {};  ///< Sum over all counted elements, on the tape; undefined for a part of no rows.
  double negative_log_likelihood = 0.0;  ///< The same sum without label smoothing, in nats.
  std::int64_t counted = 0;              ///< Number of tokens (or texts) in the sum.
  std::int64_t source_tokens = 0;        ///< Read.
  std::int64_t target_tokens = 0;        ///< Written.
  SampleSums sampled = {};               ///< What attention sampled, if it samples.
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
  /// From now on, next() computes parts of batches, one after another (data/batch_parts.h).
  /// Positions count whole batches. An error for jobs whose loss is not a sum over the rows of a
  /// batch.
  virtual void take_parts(const BatchParts& parts) {
    HEED_CHECK(parts.count == 1,
               "[train] shards = {}: this task is trained on whole batches; leave shards out, and "
               "train with one process",
               parts.count);
  }
  /// The position in the stream of batches, for resuming.
  virtual StreamPosition position() const = 0;
  virtual void seek(const StreamPosition& position) = 0;
  /// What the job keeps besides, for resuming.
  virtual JobState state() const { return {}; }
  virtual void restore(const JobState&) {}
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
