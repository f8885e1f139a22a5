// Attention with linear biases (Press et al. 2022), with the fixed slopes of the paper. The stage
// `alibi` (stages.h) takes any slopes.
#pragma once

#include "heed/attention/position.h"

namespace heed {

class AlibiSlopes : public Position {
 public:
  AlibiSlopes(const PositionConfig&, const PositionSizes&) {}

  void modify(AttentionSpec& spec, Corner corner) const override;
};

inline constexpr PositionKind kAlibi = position_kind<AlibiSlopes>(
    "alibi",
    "score_ij -= m_h |i - j|, m_h = 2^(-8 h / H); Press et al. 2022, Train Short, Test Long",
    PositionWay::scores);

}  // namespace heed
