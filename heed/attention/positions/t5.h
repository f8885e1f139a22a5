// T5's relative bias (Raffel et al. 2020): a learned number per head for each bucket of distances.
// The stage is t5_bias (stages.h).
#pragma once

#include "heed/attention/position.h"
#include "heed/attention/stages.h"

namespace heed {

/// Parameter "weight" [buckets, H], as in T5's checkpoints.
class T5Relative : public Position {
 public:
  /// Reads buckets, max_distance and bidirectional of the config, heads and embed of the sizes.
  T5Relative(const PositionConfig& config, const PositionSizes& sizes,
             Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override { visitor("weight", weight); }
  void modify(AttentionSpec& spec, Corner corner) const override;

  Tensor weight;  // [buckets, H]

 private:
  T5Options options_;
};

inline constexpr PositionKind kT5 = position_kind<T5Relative>(
    "t5",
    "score_ij += b_h[bucket(j - i)], learned, buckets grow with distance; Raffel et al. 2020, T5",
    PositionWay::scores);

}  // namespace heed
