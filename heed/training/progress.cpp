#include "heed/training/progress.h"

namespace heed {

void TrainingProgress::fields(io::Fields& field) {
  field("updates", updates, "updates done", {.min = 0});
  field("epoch", epoch, "whole epochs done", {.min = 0});
  field("batch", batch, "batches of the next one done", {.min = 0});
  field("seed", seed, "of random numbers");
  field("stream", stream, "the next stream of random numbers");
  field("usual_loss", usual_loss, "a moving average");
  field("skipped", skipped, "updates that were bad", {.min = 0});
  field("skipped_in_a_row", skipped_in_a_row, "those since the last good one", {.min = 0});
  field("judged", judged, "whether there was a validation");
  field("best", best, "what the best validation found");
  field("best_update", best_update, "and when", {.min = 0});
  field("stalled", stalled, "validations since then", {.min = 0});
  field("source_tokens", source_tokens, "tokens read", {.min = 0});
  field("target_tokens", target_tokens, "tokens written", {.min = 0});
  field("seconds", seconds, "spent in updates", {.min = 0});
}

}  // namespace heed
