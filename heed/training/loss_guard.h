// Decides which updates are skipped because their loss would harm the model.
//
//   not finite  A loss or gradient norm that is NaN or infinite: always skipped.
//   a jump      A loss above explosion * max(usual, 1): skipped while jumps are rare. `usual` is a
//               moving average of the losses of about 50 updates. A loss is in nats per token; one
//               below `explosion` nats is never a jump, however small the usual loss has become.
//
// A skipped update leaves the parameters unchanged. So if jumps become frequent, the data or the
// model are at a new level, and skipping more updates would not change that: once a tenth of the
// recent updates are jumps, they are accepted, and the usual loss adapts. After a change of level,
// six updates are skipped. Jumps in less than a tenth of the updates are skipped for good.
#pragma once

#include "heed/training/progress.h"

namespace heed {

class LossGuard {
 public:
  /// The state of the guard is a part of `progress`, which must outlive it. explosion 0: only
  /// losses that are not finite are skipped.
  LossGuard(double explosion, TrainingProgress& progress)
      : explosion_(explosion), progress_(progress) {}

  /// Whether to skip the next update; takes the loss into account for later ones.
  bool skips(double loss, double gradient_norm);

 private:
  double explosion_;
  TrainingProgress& progress_;
};

}  // namespace heed
