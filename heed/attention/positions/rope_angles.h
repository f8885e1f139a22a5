// The angles of rotary positions, also for texts longer than those of training. Pair k of R rotated
// features at position l has the angle l f_k, f_k = base^(-2k/R) without scaling. With s = scaling,
// L0 = original_length, and p_k = L0 f_k / (2 pi), the periods of pair k in L0 positions:
//   linear   f_k / s (Chen et al. 2023);
//   dynamic  the base is multiplied by (s L / L0 - (s - 1))^(R/(R - 2)), where L is the number of
//            positions that a call reaches, at least L0 (bloc97 and emozilla 2023, "dynamic NTK");
//   llama3   f_k if p_k is above high_frequency_factor, f_k / s if it is below
//            low_frequency_factor, between them a blend that is linear in p_k (Grattafiori et al.
//            2024);
//   yarn     f_k if p_k is above beta_fast, f_k / s if it is below beta_slow, between them a blend
//            that is linear in k; cosines and sines are multiplied by attention_factor (Peng et al.
//            2023). With `truncate`, the blend begins and ends at whole pairs.
// These are the formulas of modeling_rope_utils.py of transformers. Its yarn computes the default
// attention_factor from mscale and mscale_all_dim if a config has both: give m(mscale) /
// m(mscale_all_dim), m(x) = 0.1 x ln(s) + 1.
#pragma once

#include <vector>

#include "heed/attention/position.h"

namespace heed {

struct RopeAngles {
  std::vector<double> frequencies;  // f_k of R / 2 pairs
  double factor = 1.0;              // of cosines and sines
};

/// Throws unless the options of rope fit together and to a number of rotated features.
void check_rope(const PositionConfig& config, std::int64_t features);

/// The angles for a call that reaches positions below `length`; only dynamic scaling depends on it.
RopeAngles rope_angles(const PositionConfig& config, std::int64_t features,
                       std::int64_t length = 0);

}  // namespace heed
