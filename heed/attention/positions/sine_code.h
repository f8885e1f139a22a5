// The code PE(l) = sin(pi l / L), L = max_length, as a vector: feature f is its harmonic
// sin(pi l (f + 1) / L), so that the first feature is PE itself, and the vectors are rows of a
// discrete sine transform: slow waves first, half of one period to E halves of one over the length.
#pragma once

#include "heed/attention/positions/added.h"
#include "heed/attention/positions/code_table.h"

namespace heed {

class SineCode : public AddedCode {
 public:
  /// Reads max_length; embed.
  SineCode(const PositionConfig& config, const PositionSizes& sizes);

 private:
  Tensor codes(std::int64_t first, std::int64_t count, DType dtype) const override;

  CodeTable table_;
};

/// sin(pi l (f + 1) / length).
double sine_code(std::int64_t l, std::int64_t f, std::int64_t length);

inline constexpr PositionKind kSineCode = position_kind<SineCode>(
    "sine_code", "x_l += PE(l), PE(l)_f = sin(pi l (f + 1) / max_length), for l < max_length",
    PositionWay::embeddings);

}  // namespace heed
