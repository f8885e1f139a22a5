// A layer of a mechanism at a benchmark's sizes, and how long it takes.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/attention/registry.h"

namespace heed::bench {

struct LayerSizes {
  std::int64_t n = 512;      ///< Positions that ask and that are asked.
  std::int64_t embed = 256;  ///< In 4 heads, where a mechanism has heads.
  std::int64_t batch = 1;
};

class LayerTimer {
 public:
  /// Options but the sizes are the mechanism's defaults.
  LayerTimer(const Mechanism& mechanism, const LayerSizes& sizes);

  /// Seconds of a call without the tape, and of one with the way back.
  double forward() const;
  double both();

 private:
  std::unique_ptr<AttentionLayer> layer_;
  AttentionInput in_;
  Tensor dy_;
};

}  // namespace heed::bench
