// What a checkpoint knows of the run besides parameters and optimiser: how far it is, where the
// random numbers stand, what was best.
#pragma once

#include <cstdint>
#include <filesystem>

#include "heed/io/fields.h"

namespace heed {

struct TrainingProgress {
  std::int64_t updates = 0;
  std::int64_t epoch = 0;  // where the stream of batches stands
  std::int64_t batch = 0;
  std::int64_t seed = 0;  // of the default generator; 64 bits, as a signed number
  std::int64_t stream = 0;
  double usual_loss = 0.0;   // a moving average
  std::int64_t skipped = 0;  // updates that were bad
  std::int64_t skipped_in_a_row = 0;
  bool judged = false;  // there is a best
  double best = 0.0;
  std::int64_t best_update = 0;
  std::int64_t stalled = 0;  // validations since the best
  std::int64_t source_tokens = 0;
  std::int64_t target_tokens = 0;
  double seconds = 0.0;  // spent in updates

  void fields(io::Fields& field);
};

}  // namespace heed
