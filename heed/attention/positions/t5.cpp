#include "heed/attention/positions/t5.h"

#include <cmath>

#include "heed/nn/init.h"
#include "heed/tensor/create.h"

namespace heed {

T5Relative::T5Relative(const PositionConfig& config, const PositionSizes& sizes,
                       Generator& generator)
    : options_{.bidirectional = config.bidirectional, .max_distance = config.max_distance} {
  check_position("t5", "heads", sizes.heads);
  check_position("t5", "embed", sizes.embed);
  check_position("t5", "buckets", config.buckets);
  weight = empty({config.buckets, sizes.heads});
  init::normal(weight, 1.0 / std::sqrt(static_cast<double>(sizes.embed)), generator);
  weight.requires_grad();
  t5_bias(weight, options_);  // throws now rather than at the first call
}

void T5Relative::modify(AttentionSpec& spec, Corner corner) const {
  T5Options options = options_;
  options.corner = corner;
  spec.modifiers.push_back(t5_bias(weight, options));
}

}  // namespace heed
