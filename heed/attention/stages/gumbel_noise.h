// Scores with noise from Gumbel's distribution (Jang et al. 2017; Maddison et al. 2017): softmax of
// them, with a temperature, is a draw that can be differentiated.
#pragma once

#include "heed/attention/stage.h"
#include "heed/base/random.h"

namespace heed {

/// score += g, g = -log(-log u) of a uniform u for each query and key: the noise that hard_weights
/// (normaliser.h) of the same stream draws by. The gradient passes as it is.
Modifier gumbel_noise(RandomStream random);

}  // namespace heed
