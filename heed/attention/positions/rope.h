// Rotary positions (Su et al. 2021): pair k of the features of a query or key at position l is
// rotated by the angle (l / scaling) base^(-2k/D), so that scores depend on i - j alone. A pair is
// features (2k, 2k + 1) as in GPT-J, or (k, k + D/2), `halves`, as in GPT-NeoX and Llama. A scaling
// above 1 maps longer texts to the angles seen in training (Chen et al. 2023).
#pragma once

#include "heed/attention/position.h"
#include "heed/attention/positions/code_table.h"

namespace heed {

class Rope : public Position {
 public:
  /// Reads max_length, base, halves and scaling of the config, head of the sizes.
  Rope(const PositionConfig& config, const PositionSizes& sizes);

  Tensor rotate(const Tensor& x, std::int64_t first = 0) const override;

 private:
  bool halves_;
  std::int64_t features_;      // D
  CodeTable cosines_, sines_;  // D features each; sines are negated for the first of a pair
};

inline constexpr PositionKind kRope = position_kind<Rope>(
    "rope",
    "q_l and k_l turned by l base^(-2k/d) / scaling in feature pair k; Su et al. 2021, RoFormer",
    PositionWay::heads);

}  // namespace heed
