// The state of a run that a checkpoint saves besides parameters and optimiser: its progress, the
// state of the random numbers, and the best validation.
#pragma once

#include <cstdint>
#include <string>

#include "heed/io/fields.h"

namespace heed {

struct TrainingProgress {
  std::int64_t updates = 0;
  std::int64_t epoch = 0;  // position in the stream of batches
  std::int64_t batch = 0;
  std::int64_t window = 0;
  std::string stream_settings = {};  // what the position depends on (stream_settings.h)
  std::int64_t shards = 1;           // of a batch
  std::int64_t seed = 0;             // seed of the default generator; 64 bits, as a signed number
  std::int64_t stream = 0;
  double usual_loss = 0.0;            // moving average
  double jump_share = 0.0;            // moving average of the share of jumps (loss_guard.h)
  std::int64_t skipped = 0;           // number of skipped updates
  std::int64_t skipped_in_a_row = 0;  // because the loss or the gradient was not finite
  bool judged = false;                // whether there is a best
  double best = 0.0;
  std::int64_t best_update = 0;
  std::int64_t stalled = 0;     // number of validations since the best
  bool validation_due = false;  // whether the validation of this update was interrupted
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;
  double seconds = 0.0;   // time spent in updates
  double baseline = 0.0;  // of REINFORCE (sampled_loss.h)
  std::int64_t baseline_updates = 0;

  void fields(io::Fields& field);
};

}  // namespace heed
