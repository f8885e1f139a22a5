// Clipping by the global norm (Pascanu et al. 2013). The gradients are only read: the scale goes to
// the optimiser's step, which applies it on the way.
#pragma once

#include <span>

#include "heed/tensor/tensor.h"

namespace heed {

struct ClippedGradient {
  double norm;   // of all gradients as one vector; not finite if any of them is not
  double scale;  // min(1, max_norm / (norm + 1e-6)), as in PyTorch
};

/// The norm of all gradients (parameters without one count as 0), and what brings it down to
/// max_norm; an infinite max_norm only measures.
ClippedGradient clip(std::span<const Tensor> parameters, double max_norm);

}  // namespace heed
