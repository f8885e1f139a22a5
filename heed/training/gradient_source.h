// Where the gradient of an update comes from: whole batches, one after another, or shards of
// batches that one process or many compute (sharded_batches.h). The trainer does the rest, the same
// for both.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/base/threads.h"
#include "heed/training/job.h"
#include "heed/training/optimizer.h"
#include "heed/training/saved_buffers.h"
#include "heed/training/watcher.h"

namespace heed {

/// Sums over the batches of an update.
struct BatchSums {
  double loss = 0.0;
  double negative_log_likelihood = 0.0;
  std::int64_t counted = 0;
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;
  SampleSums sampled = {};
  std::vector<RankReport> ranks = {};  ///< If several processes train.

  void add(const BatchLoss& batch);
};

class GradientSource {
 public:
  /// Runs the work of an update; false if the run should stop meanwhile.
  using Attempt = FunctionRef<bool(FunctionRef<void()> work)>;

  virtual ~GradientSource() = default;
  /// Computes the gradients of an update, which the parameters then have. None if it was
  /// interrupted: then everything is as it was before.
  virtual std::optional<BatchSums> compute(std::int64_t update, Attempt attempt) = 0;
  /// The norm of all gradients as one vector.
  virtual double norm() = 0;
  /// After the optimiser's step: completes the update on all ranks.
  virtual void share() = 0;
  /// Instead of a step: leaves the model as it was before the update.
  virtual void drop() = 0;
};

/// Whole batches; their gradients are added one after another.
class WholeBatches : public GradientSource {
 public:
  /// Job and optimiser must outlive it. An update has `accumulate` batches.
  WholeBatches(Job& job, Optimizer& optimizer, std::int64_t accumulate)
      : job_(job), optimizer_(optimizer), accumulate_(accumulate), buffers_(job.model()) {}

  std::optional<BatchSums> compute(std::int64_t update, Attempt attempt) override;
  double norm() override;
  void share() override {}
  void drop() override { buffers_.restore(); }

 private:
  Job& job_;
  Optimizer& optimizer_;
  std::int64_t accumulate_;
  SavedBuffers buffers_;
};

}  // namespace heed
