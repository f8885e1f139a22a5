// Times a layer of a mechanism with the sizes of a benchmark.
#pragma once

#include <cstdint>
#include <memory>

#include "heed/attention/registry.h"

namespace heed::bench {

struct LayerSizes {
  std::int64_t n = 512;      ///< Queries and keys.
  std::int64_t embed = 256;  ///< In 4 heads, if the mechanism has heads.
  std::int64_t batch = 1;
};

class LayerTimer {
 public:
  /// All options but the sizes are the defaults of the mechanism.
  LayerTimer(const Mechanism& mechanism, const LayerSizes& sizes);

  /// Seconds of a call without the tape, and of one with the backward pass.
  double forward() const;
  double both();

 private:
  std::unique_ptr<AttentionLayer> layer_;
  AttentionInput in_;
  Tensor dy_;
};

}  // namespace heed::bench
