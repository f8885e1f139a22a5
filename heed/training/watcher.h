// What a trainer tells those who watch it: reports of updates and validations. Logs, curves and
// event files are watchers; none of them changes what is trained.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "heed/training/job.h"

namespace heed {

/// What one update did.
struct UpdateReport {
  std::int64_t update = 0;
  double epoch = 0.0;  ///< With the share of the present one.
  double loss = 0.0;   ///< Per token, with smoothing.
  double negative_log_likelihood =
      0.0;  ///< Per token, without: negative, in nats. Its exponential is the perplexity.
  double rate = 0.0;
  double gradient_norm = 0.0;
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;
  double seconds = 0.0;  ///< That it took.
  bool skipped = false;  ///< The parameters stayed as they were.
};

/// What one validation found.
struct ValidationReport {
  std::int64_t update = 0;
  double epoch = 0.0;
  std::vector<Judgement> judgements = {};
  bool best = false;
  std::int64_t stalled = 0;  ///< Validations since the best.
  double seconds = 0.0;
};

/// Who is told what happens; each does nothing unless it is overridden.
class TrainingWatcher {
 public:
  virtual ~TrainingWatcher() = default;
  /// Training begins, or goes on, behind this update: later ones are done anew.
  virtual void began(std::int64_t /*update*/) {}
  virtual void updated(const UpdateReport&) {}
  /// A validation begins, which may take long.
  virtual void validating() {}
  virtual void validated(const ValidationReport&) {}
  virtual void saved(const std::filesystem::path&) {}
};

/// Several watchers as one, told in order; they must outlive it.
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

/// The mean of the updates since the last one was taken, for those who speak only now and then.
class UpdateWindow {
 public:
  struct Mean {
    double loss = 0.0;
    double perplexity = 0.0;
    double source_rate = 0.0;  ///< Tokens a second.
    double target_rate = 0.0;
    std::int64_t skipped = 0;  ///< Updates, which count for nothing else.
  };

  void add(const UpdateReport& report);
  /// Whether no update counts.
  bool empty() const { return count_ == 0; }
  /// The mean so far; not a number where no update counts.
  Mean mean() const;
  /// The same, and begins anew.
  Mean take();

 private:
  UpdateReport sum_;
  std::int64_t count_ = 0;
  std::int64_t skipped_ = 0;
};

}  // namespace heed
