// PE(l) = [sin(pi l k / L), cos(pi l k / L)], L = max_length, added to embeddings: of E features
// the first ceil(E/2) are sines with k = 1, 2, 3 and so on, the other floor(E/2) cosines with the
// same k. Frequency k has k half periods over the length. For an even E the product of PE(a) and
// PE(b), sum_k cos(pi (a - b) k / L), depends on a - b alone.
#pragma once

#include "heed/attention/positions/added.h"

namespace heed {

class SineCode : public AddedTable {
 public:
  /// Reads max_length of the config, embed of the sizes.
  SineCode(const PositionConfig& config, const PositionSizes& sizes);
};

/// The value PE(l)_f as a function of position l, which may be negative, and feature f.
CodeTable::Value sine_code(std::int64_t features, std::int64_t max_length);

inline constexpr PositionKind kSineCode = position_kind<SineCode>(
    "sine_code",
    "x_l += PE(l) = [sin(pi l k / L), cos(pi l k / L)], k = 1 to E/2, l < L = max_length",
    PositionWay::embeddings);

}  // namespace heed
