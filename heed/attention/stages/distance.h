// Parts of stages that depend on the distance of query and key alone.
#pragma once

#include <cstdint>
#include <string>

#include "heed/attention/corner.h"
#include "heed/attention/stage.h"
#include "heed/kernels/attention/program.h"

namespace heed {

/// The corner's shift, which must be the same for all sequences of a call.
std::int64_t common_shift(const std::string& stage, Corner corner,
                          const kernels::AttentionShape& shape);

/// The distances i + shift - j of a call: Tq + Tk - 1 of them, from `least` on.
struct Distances {
  std::int64_t least = 0, count = 0;
  Distances(const kernels::AttentionShape& shape, std::int64_t shift)
      : least(shift - (shape.Tk - 1)), count(shape.Tq + shape.Tk - 1) {}
};

/// A stage that adds a number for each distance: inputs() returns one table [H or 1, length].
class DistanceStage : public StageOf<DistanceStage> {
 public:
  template <typename T>
  TileStagePtr<T> make(const StageBinding& to) const;

  /// What a call of one query adds to the scores of its keys: [H or 1, Tk].
  Tensor bias_of_keys(const kernels::AttentionShape& shape, DType dtype) const;

 protected:
  /// The index of i - j = 0 in the table. The default is for tables that start with the least
  /// distance of the call.
  virtual std::int64_t zero(const kernels::AttentionShape& shape) const { return shape.Tk - 1; }
};

}  // namespace heed
