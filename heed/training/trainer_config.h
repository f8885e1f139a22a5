// The settings of the trainer, independent of the model.
#pragma once

#include <string>

#include "heed/distributed/wire.h"
#include "heed/io/fields.h"
#include "heed/training/frequency.h"
#include "heed/training/optimizer.h"
#include "heed/training/schedule.h"

namespace heed {

enum class OptimizerKind : std::uint8_t { adam, adamw, sgd };

/// The names that configs use.
constexpr std::array<io::EnumName<OptimizerKind>, 3> enum_names(OptimizerKind) {
  return {{{OptimizerKind::adam, "adam"},
           {OptimizerKind::adamw, "adamw"},
           {OptimizerKind::sgd, "sgd"}}};
}

struct OptimizerConfig {
  OptimizerKind kind = OptimizerKind::adam;
  double beta1 = 0.9;     // adam, adamw
  double beta2 = 0.98;    // adam, adamw
  double epsilon = 1e-9;  // adam, adamw
  double momentum = 0.0;  // sgd
  double weight_decay = 0.0;
  bool decay_matrices_only = true;

  void fields(io::Fields& field);
};

/// The optimiser that a config describes.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          const std::vector<NamedTensor>& parameters,
                                          const OwnedParts& parts = {});

struct TrainerConfig {
  std::string after = "0";  // when to stop
  std::string valid_freq = "1e";
  std::string save_freq = "1e";
  std::int64_t early_stopping =
      10;  // stop after so many validations in a row without improvement; 0: never
  std::string stop_on = "loss";   // metric for early stopping
  std::int64_t keep_last = 5;     // number of checkpoints; 0: all
  std::int64_t accumulate = 1;    // batches per update
  std::int64_t shards = 0;        // parts of a batch with gradients of their own; 0: see fields()
  Wire wire = Wire::f32;          // of gradients between ranks
  std::int64_t bucket = 0;        // elements of gradients that are sent together; 0: see fields()
  double rank_deadline = 600.0;   // seconds
  double clip_norm = 0.0;         // 0: no clipping
  std::int64_t max_skipped = 10;  // updates in a row that are not finite
  double ema = 0.0;               // decay of the moving average of parameters; 0: none
  double explosion = 5.0;         // skip a rare loss of this many times the usual one; 0: never
  std::uint64_t seed = 1;
  OptimizerConfig optimizer = {};
  ScheduleConfig schedule = {};

  void fields(io::Fields& field);
  void validate() const;
};

}  // namespace heed
