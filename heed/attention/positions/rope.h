// Rotary positions (Su et al. 2021): pair k of the features of a query or key at position l is
// rotated by an angle l f_k, so that scores depend on i - j alone. A pair is features (2k, 2k + 1)
// as in GPT-J, or (k, k + R/2), `halves`, as in GPT-NeoX and Llama. R features are rotated, the
// first `rotary_features` of a head or all. rope_angles.h has f_k and its scalings for longer
// texts.
#pragma once

#include "heed/attention/position.h"
#include "heed/attention/positions/code_table.h"

namespace heed {

class Rope : public Position {
 public:
  /// Reads max_length, base, halves, rotary_features and all options of scaling of the config, head
  /// of the sizes.
  Rope(const PositionConfig& config, const PositionSizes& sizes);

  /// With dynamic scaling, a call that reaches a position beyond original_length has angles of its
  /// own. Keys in a cache keep the rotation of the call that made them, as in transformers, so that
  /// decoding then differs from one call on the whole text.
  Tensor rotate(const Tensor& x, FirstPositions first = 0) const override;

 private:
  /// Cosines and sines of the pairs' angles, R features each; sines are negated for the first of a
  /// pair.
  struct Waves {
    CodeTable cosines, sines;
  };

  Waves waves(std::int64_t ready, std::int64_t length) const;
  Tensor rotate_features(const Tensor& x, const Waves& waves, FirstPositions first) const;

  PositionConfig config_;
  std::int64_t features_, rotated_;  // D and R
  Waves waves_;                      // of calls that reach no dynamic angles
};

inline constexpr PositionKind kRope = position_kind<Rope>(
    "rope",
    "q_l and k_l turned by l base^(-2k/d) / scaling in feature pair k; Su et al. 2021, RoFormer",
    PositionWay::heads);

}  // namespace heed
