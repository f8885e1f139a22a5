// A draw from a Gaussian around a mean, for attention whose place is a number instead of one of
// several positions (the location of Mnih et al. 2014). The draw itself has no gradient; its
// log-probability has one with respect to the mean, which REINFORCE (reinforce.h) uses.
#pragma once

#include "heed/base/random.h"
#include "heed/tensor/tensor.h"

namespace heed {

struct GaussianDraw {
  Tensor value;     ///< [B, N]: mean + deviation * noise, without gradient.
  Tensor log_prob;  ///< [B]: log-density of the value, differentiable in the mean.
  Tensor entropy;   ///< [B]: of the Gaussian, in nats; it depends on the deviation alone.
};

/// Draws from Gaussians with means [B, N] and one standard deviation. The noise is the next stream
/// of the generator.
GaussianDraw draw_gaussian(const Tensor& mean, double deviation,
                           Generator& generator = default_generator());

}  // namespace heed
