// What a trainer is given to do: a model, batches without end and a way to judge. Translation,
// language models and classification are jobs; how they are trained is the trainer's affair.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/data/epoch_stream.h"
#include "heed/nn/module.h"

namespace heed {

/// The loss of one batch.
struct BatchLoss {
  Tensor sum = {};                       ///< Over all that counts, on the tape.
  double negative_log_likelihood = 0.0;  ///< The same sum without label smoothing, in nats.
  std::int64_t counted = 0;              ///< Tokens (or texts) that it is the sum of.
  std::int64_t source_tokens = 0;        ///< Read.
  std::int64_t target_tokens = 0;        ///< Written.
};

/// A number that validation found.
struct Judgement {
  std::string name;  ///< "loss", "perplexity", "bleu", …
  double value = 0.0;
  bool higher_is_better = false;
};

class Job {
 public:
  virtual ~Job() = default;

  virtual Module& model() = 0;
  /// The loss of the next batch; the model is in training.
  virtual BatchLoss next() = 0;
  /// Where the stream of batches stands, and how to get there again.
  virtual StreamPosition position() const = 0;
  virtual void seek(const StreamPosition& position) = 0;
  /// The share of the present epoch that is done, from 0 to 1.
  virtual double epoch_share() const = 0;
  /// What the model, in use, does on sentences held out; empty if there are none.
  virtual std::vector<Judgement> validate() = 0;
  /// Writes the model and what belongs to it into a folder.
  virtual void save(const std::filesystem::path& folder) const = 0;
};

}  // namespace heed
