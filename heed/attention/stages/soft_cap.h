// Scores that never exceed a cap (Gemma 2, 2024).
#pragma once

#include "heed/attention/stage.h"

namespace heed {

/// score = cap * tanh(score / cap).
Modifier soft_cap(double cap);

}  // namespace heed
