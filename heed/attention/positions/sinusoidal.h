// Sinusoids of geometrically growing wavelengths, added to embeddings (Vaswani et al. 2017):
// feature pair k of position l is sin(l w_k), cos(l w_k) with w_k = base^(-2k/E). The two features
// of a pair are adjacent (the formula of the paper), or all sines come before all cosines (its
// code; Marian). `inclusive` frequencies are w_k = base^(-k/(E/2 - 1)), so that the last one is
// 1 / base; if E is odd, the last feature is then 0. With `halves`, `inclusive` and an offset of 2
// they are the positions of fairseq and M2M100.
#pragma once

#include "heed/attention/positions/added.h"

namespace heed {

class Sinusoidal : public AddedTable {
 public:
  /// Reads max_length, offset, base, halves and inclusive of the config, embed of the sizes.
  Sinusoidal(const PositionConfig& config, const PositionSizes& sizes);
};

struct SinusoidOptions {
  double base = 10000.0;
  bool halves = false;
  bool inclusive = false;
};

/// The value of the code at (position, feature), for that many features; positions may be negative.
CodeTable::Value sinusoid(std::int64_t features, const SinusoidOptions& options);

inline constexpr PositionKind kSinusoidal = position_kind<Sinusoidal>(
    "sinusoidal",
    "x_l += [sin(l w_k), cos(l w_k)], w_k = base^(-2k/E); Vaswani et al. 2017, Attention Is All "
    "You Need",
    PositionWay::embeddings);

}  // namespace heed
