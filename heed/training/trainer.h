// The training loop: updates, validation, checkpoints, early stopping. A run that was stopped or
// killed and then resumed gives the same bits as an uninterrupted one: random numbers are a
// function of seed and position, and a checkpoint holds the whole state.
//
//   Trainer trainer(job, config, {.folder = "model"}, watcher);
//   trainer.resume();
//   const Outcome outcome = trainer.run();
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "heed/base/threads.h"
#include "heed/distributed/communicator.h"
#include "heed/training/checkpoints.h"
#include "heed/training/ema.h"
#include "heed/training/job.h"
#include "heed/training/progress.h"
#include "heed/training/sharded_batches.h"
#include "heed/training/trainer_config.h"
#include "heed/training/watcher.h"

namespace heed {

enum class Outcome : std::uint8_t { finished, stalled, interrupted };

struct TrainerPlace {
  std::filesystem::path folder;  ///< Folder of the checkpoints.
  /// Whether the run should stop; called often, also inside an update or a validation.
  std::function<bool()> interrupted = [] { return false; };
  /// The processes that train together; null: this one alone. All have the same config and job.
  /// Rank 0 writes the checkpoints.
  Communicator* ranks = nullptr;
};

class Trainer {
 public:
  /// The watcher may be null. Job and watcher must outlive the trainer.
  Trainer(Job& job, const TrainerConfig& config, TrainerPlace place,
          TrainingWatcher* watcher = nullptr);

  /// Continues from the newest checkpoint of the folder; false if there is none. Inside an epoch,
  /// the settings of the batches must be those of the checkpoint.
  bool resume();
  /// Trains until the config's end, early stopping or an interruption; the last state is saved. An
  /// interruption ends an update, which is dropped, or a validation, which is repeated on resuming;
  /// an interruption of one rank is one of all.
  Outcome run();

  const TrainingProgress& progress() const { return progress_; }

 private:
  bool unless_interrupted(FunctionRef<void()> work) const;
  std::optional<UpdateReport> update();
  void count_skipped(const UpdateReport& report);
  bool validate();
  bool finish_validation();
  void save();
  void write(std::span<const NamedTensor> optimizer_state);
  void start_average();
  void check_position(const std::filesystem::path& folder) const;
  Done done() const { return {progress_.updates, progress_.epoch}; }
  double epochs() const;

  Job& job_;
  TrainerConfig config_;
  TrainerPlace place_;
  TrainingWatcher nobody_;
  TrainingWatcher* watcher_;
  SingleRank alone_;
  Communicator& ranks_;
  Checkpoints checkpoints_;
  std::unique_ptr<GradientSource> gradients_;
  ShardedBatches* sharded_ = nullptr;  // if gradients_ is that
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<Ema> ema_;
  TrainingProgress progress_;
  bool best_now_ = false;       // whether the last validation, at the current update, was the best
  std::int64_t saved_at_ = -1;  // the update of the newest checkpoint
};

}  // namespace heed
