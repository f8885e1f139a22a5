// The relative form of sine_code: queries meet the code of their distance from the key as a
// relative key, in the place of Shaw's learned ones: score += scale q_i . PE(i - j). It is odd,
// PE(-d) = -PE(d), so before and behind differ, and PE(0) = 0. Any length will do.
#pragma once

#include <memory>

#include "heed/attention/position.h"
#include "heed/attention/positions/code_table.h"

namespace heed {

class SineRelative : public Position {
 public:
  /// Reads max_length; head.
  SineRelative(const PositionConfig& config, const PositionSizes& sizes);

  void modify(AttentionSpec& spec, Corner corner) const override;

 private:
  std::shared_ptr<const CodeTable> table_;  // shared with the stages of specs
};

inline constexpr PositionKind kSineRelative = position_kind<SineRelative>(
    "sine_relative",
    "score_ij += q_i . PE(i - j) / sqrt(d), PE(l)_f = sin(pi l (f + 1) / max_length), not learned; "
    "in the place of Shaw et al. 2018",
    PositionWay::scores);

}  // namespace heed
