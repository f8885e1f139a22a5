// Relative positions on a ring: as those of Shaw et al. (2018), but the distance of two positions
// counts modulo a period, so that the last position is next to the first. For data without
// beginning and end: angles, hours of a day, closed curves. The stages are circular_keys and
// circular_values (stages.h).
#pragma once

#include "heed/attention/position.h"

namespace heed {

/// Parameters "keys" and "values" [period, D], for (j - i) mod period, shared by heads.
class CircularRelative : public Position {
 public:
  /// Reads period of the config, head of the sizes.
  CircularRelative(const PositionConfig& config, const PositionSizes& sizes,
                   Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  void modify(AttentionSpec& spec, Corner corner) const override;

  Tensor keys, values;  // [period, D]
};

inline constexpr PositionKind kCircularRelative = position_kind<CircularRelative>(
    "circular",
    "score_ij = q_i . (k_j + A_c) / sqrt(d), output_i = sum_j w_ij (v_j + B_c), c = (j - i) mod "
    "period; Shaw et al. 2018 on a ring",
    PositionWay::scores);

}  // namespace heed
