#include "heed/training/progress.h"

namespace heed {

void TrainingProgress::fields(io::Fields& field) {
  field("updates", updates, "updates done", {.min = 0});
  field("epoch", epoch, "number of complete epochs", {.min = 0});
  field("batch", batch, "number of batches of the current epoch, or of its window", {.min = 0});
  field("window", window, "number of complete windows of the current epoch", {.min = 0});
  field("stream_settings", stream_settings, "settings that the position depends on");
  field("shards", shards, "number of parts of a batch", {.min = 1});
  field("seed", seed, "seed of the random numbers");
  field("stream", stream, "next stream of the random numbers");
  field("usual_loss", usual_loss, "moving average of the loss");
  field("jump_share", jump_share, "moving average of the share of updates with a jump of the loss",
        {.min = 0, .max = 1});
  field("skipped", skipped, "number of skipped updates", {.min = 0});
  field("skipped_in_a_row", skipped_in_a_row,
        "number of updates in a row whose loss or gradient was not finite", {.min = 0});
  field("judged", judged, "whether there was a best validation");
  field("best", best, "value of the best validation");
  field("best_update", best_update, "and when", {.min = 0});
  field("stalled", stalled, "number of validations since the best", {.min = 0});
  field("validation_due", validation_due, "whether the validation of this update was interrupted");
  field("source_tokens", source_tokens, "tokens read", {.min = 0});
  field("target_tokens", target_tokens, "tokens written", {.min = 0});
  field("seconds", seconds, "time spent in updates", {.min = 0});
  field("baseline", baseline, "baseline of REINFORCE");
  field("baseline_updates", baseline_updates, "updates of the baseline", {.min = 0});
}

}  // namespace heed
