// Clipping by the global norm (Pascanu et al. 2013). The gradients are only read: the optimiser's
// step applies the scale.
#pragma once

#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

struct ClippedGradient {
  double norm;   // of all gradients as one vector; not finite if a gradient is not
  double scale;  // min(1, max_norm / (norm + 1e-6)), as in PyTorch
};

/// The norm of all gradients (parameters without one count as 0), and the scale that reduces it to
/// max_norm. An infinite max_norm only measures.
ClippedGradient clip(std::span<const Tensor> parameters, double max_norm);

/// The scale alone, of gradients of that norm.
double clip_scale(double norm, double max_norm);

}  // namespace heed
