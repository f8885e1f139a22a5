// Scores divided by a temperature: above 1 it flattens the weights, below 1 it sharpens them.
#pragma once

#include "heed/attention/stage.h"

namespace heed {

/// score /= temperature.
Modifier temperature(double temperature);
/// The same with one that may be learned: one number, or one for each head [H]. None may be 0.
Modifier temperature(const Tensor& temperature);

}  // namespace heed
