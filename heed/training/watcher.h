// Watchers of a trainer, which receive reports of updates and validations. Logs, curves and event
// files are watchers; they do not affect training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/training/job.h"

namespace heed {

/// Means over the samples of attention.
struct SampleMeans {
  double reward = 0.0;
  double entropy = 0.0;
};
/// None if there are no samples.
std::optional<SampleMeans> means_of(const SampleSums& sums);

/// What one of several processes did in an update.
struct RankReport {
  std::int64_t target_tokens = 0;
  double compute = 0.0;  ///< Seconds for its shards.
  /// Seconds of the update before: waiting for the shards of other ranks, and exchanging gradients
  /// and parameters.
  double waiting = 0.0;
  double communication = 0.0;
};

/// The report of one update.
struct UpdateReport {
  std::int64_t update = 0;
  double epoch = 0.0;  ///< Including the share of the current one.
  double loss = 0.0;   ///< Per token, with label smoothing.
  double negative_log_likelihood =
      0.0;  ///< Per token, without smoothing, in nats. Its exponential is the perplexity.
  double rate = 0.0;
  double gradient_norm = 0.0;
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;
  double seconds = 0.0;                ///< Duration of the update.
  bool skipped = false;                ///< Whether the parameters were left unchanged.
  SampleSums sampled = {};             ///< What attention sampled, if it samples.
  std::vector<RankReport> ranks = {};  ///< If several processes train.
};

/// The report of one validation.
struct ValidationReport {
  std::int64_t update = 0;
  double epoch = 0.0;
  std::vector<Judgement> judgements = {};
  bool best = false;
  bool finite = true;        ///< Whether the deciding metric is; otherwise it is never the best.
  std::int64_t stalled = 0;  ///< Number of validations since the best.
  double seconds = 0.0;
};

/// Receives the events of training; each function does nothing unless it is overridden.
class TrainingWatcher {
 public:
  virtual ~TrainingWatcher() = default;
  /// Training starts or resumes after this update; later updates are repeated.
  virtual void began(std::int64_t /*update*/) {}
  virtual void updated(const UpdateReport&) {}
  /// A validation begins; it may take long.
  virtual void validating() {}
  virtual void validated(const ValidationReport&) {}
  virtual void saved(const std::filesystem::path&) {}
};

/// Several watchers as one, called in order; they must outlive it.
class TrainingWatchers : public TrainingWatcher {
 public:
  void add(TrainingWatcher& watcher) { all_.push_back(&watcher); }

  void began(std::int64_t update) override;
  void updated(const UpdateReport& report) override;
  void validating() override;
  void validated(const ValidationReport& report) override;
  void saved(const std::filesystem::path& folder) override;

 private:
  std::vector<TrainingWatcher*> all_;
};

/// The mean over the updates since the last take(), for watchers that report only at intervals.
class UpdateWindow {
 public:
  struct Mean {
    double loss = 0.0;
    double perplexity = 0.0;
    double source_rate = 0.0;  ///< Tokens per second.
    double target_rate = 0.0;
    std::int64_t skipped = 0;                 ///< Number of skipped updates, which are in no mean.
    std::optional<SampleMeans> sampled = {};  ///< If attention sampled.
    std::vector<RankReport> ranks = {};       ///< Sums, if several processes train.
  };

  void add(const UpdateReport& report);
  /// Whether there is no update to average.
  bool empty() const { return count_ == 0; }
  /// The mean so far; NaN if there is no update to average.
  Mean mean() const;
  /// Returns the mean and starts a new one.
  Mean take();

 private:
  UpdateReport sum_;
  std::int64_t count_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace heed
