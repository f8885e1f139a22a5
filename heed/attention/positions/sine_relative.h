// The relative form of sine_code, used in place of Shaw's learned keys:
// score_ij += scale q_i . PE(i - j), where i is the position of the query and j that of the key.
// The sines change sign with i - j and the cosines do not, so PE tells keys before a query from
// keys after it. PE(0) is 0 in the sines and 1 in the cosines. There is no limit on the length.
#pragma once

#include <memory>

#include "heed/attention/position.h"
#include "heed/attention/positions/code_table.h"

namespace heed {

class SineRelative : public Position {
 public:
  /// Reads max_length of the config, head of the sizes.
  SineRelative(const PositionConfig& config, const PositionSizes& sizes);

  void modify(AttentionSpec& spec, Corner corner) const override;

 private:
  std::shared_ptr<const CodeTable> table_;  // shared with the stages of specs
};

inline constexpr PositionKind kSineRelative = position_kind<SineRelative>(
    "sine_relative",
    "score_ij += q_i . PE(i - j) / sqrt(d), PE(l) = [sin(pi l k / L), cos(pi l k / L)], k = 1 to "
    "d/2, L = max_length, not learned; in place of Shaw et al. 2018",
    PositionWay::scores);

}  // namespace heed
