// Normalisation along the last axis: layer norm and RMS norm, alone or fused with the residual sum
// before them.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Options of the norms.
struct NormOptions {
  Tensor weight = {};  // [E]; undefined: 1
  Tensor bias = {};    // [E]; undefined: 0
  double eps = 1e-5;   // added to the variance (layer norm) or the mean square (RMS norm)
};

/// (x - mean) / sqrt(variance + eps) * weight + bias, for each row along the last axis.
Tensor layer_norm(const Tensor& x, const NormOptions& options = {});

/// x / sqrt(mean(x^2) + eps) * weight + bias, for each row along the last axis.
Tensor rms_norm(const Tensor& x, const NormOptions& options = {});

/// The norm of x + residual, and that sum for the next residual connection.
struct NormResidual {
  Tensor y;
  Tensor sum;
};

/// layer_norm(x + residual) and x + residual in one pass; the shapes must be equal.
NormResidual add_layer_norm(const Tensor& x, const Tensor& residual,
                            const NormOptions& options = {});

/// rms_norm(x + residual) and x + residual in one pass; the shapes must be equal.
NormResidual add_rms_norm(const Tensor& x, const Tensor& residual, const NormOptions& options = {});

}  // namespace heed
