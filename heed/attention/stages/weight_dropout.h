// Dropout of attention's weights, from a counter-based generator: nothing is stored for the
// backward pass, and the same seed gives the same mask.
#pragma once

#include <cstdint>

#include "heed/attention/stage.h"
#include "heed/base/random.h"

namespace heed {

/// Each weight is 0 with probability p in [0, 1), else times 1 / (1 - p). A stream of one's own for
/// each call, e.g. default_generator().next(), makes the masks independent.
Reweight weight_dropout(double p, RandomStream random);
/// The same from the first stream of a seed.
Reweight weight_dropout(double p, std::uint64_t seed);
/// Without randomness p must be 0, and nothing is changed.
Reweight weight_dropout(double p);

}  // namespace heed
