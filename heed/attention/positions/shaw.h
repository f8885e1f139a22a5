// Relative position representations (Shaw et al. 2018): a learned vector for each clipped distance
// is added to keys, another to values. The stages are shaw_keys and shaw_values (stages.h).
#pragma once

#include "heed/attention/position.h"

namespace heed {

/// Parameters "keys" and "values" [2 clip + 1, D], for distances j - i from -clip to clip, shared
/// by heads.
class ShawRelative : public Position {
 public:
  /// Reads clip of the config, head of the sizes.
  ShawRelative(const PositionConfig& config, const PositionSizes& sizes,
               Generator& generator = default_generator());

  void visit(ParameterVisitor& visitor) override;
  void modify(AttentionSpec& spec, Corner corner) const override;

  Tensor keys, values;  // [2 clip + 1, D]
};

inline constexpr PositionKind kShawRelative = position_kind<ShawRelative>(
    "shaw",
    "score_ij = q_i . (k_j + A_c) / sqrt(d), output_i = sum_j w_ij (v_j + B_c), c = clip(j - i); "
    "Shaw et al. 2018, Self-Attention with Relative Position Representations",
    PositionWay::scores);

}  // namespace heed
