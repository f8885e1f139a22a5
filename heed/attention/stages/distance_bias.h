// Biases that depend on the distance of query and key alone.
#pragma once

#include <cstdint>

#include "heed/attention/corner.h"
#include "heed/attention/stage.h"

namespace heed {

/// score += table[h, i + shift - j + zero] for query i and key j: table [H, length] or [length],
/// learned or not; `zero` is the index of distance 0, and the corner gives the shift.
Modifier distance_bias(const Tensor& table, std::int64_t zero, Corner corner = Corner::top_left);

/// What stages of that family share: inputs() returns one table [H or 1, length].
class DistanceStage : public StageOf<DistanceStage> {
 public:
  template <typename T>
  TileStagePtr<T> make(const StageBinding& to) const;

 protected:
  /// The index of i - j = 0. This one is that of tables which begin with the least distance.
  virtual std::int64_t zero(const kernels::AttentionShape& shape) const { return shape.Tk - 1; }
};

}  // namespace heed
