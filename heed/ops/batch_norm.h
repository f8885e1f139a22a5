// Batch normalisation of channels, differentiable (Ioffe and Szegedy 2015).
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Options of batch_norm.
struct BatchNormOptions {
  Tensor weight = {};  // [C]; undefined: 1
  Tensor bias = {};    // [C]; undefined: 0
  /// Statistics [C] to normalise with, both or none. Undefined: those of x.
  Tensor mean = {}, variance = {};
  double eps = 1e-5;  // added to the variance
  /// What follows in residual networks, fused: relu(norm(x) + add).
  Tensor add = {};  // in the shape of x; undefined: 0
  bool relu = false;
};

/// The result, and the statistics that it was normalised with, without gradient.
struct BatchNormResult {
  Tensor y;
  Tensor mean, variance;  // [C]; the variance is divided by n
};

/// (x - mean) / sqrt(variance + eps) * weight + bias for each channel of x [B, C, …]; then `add` is
/// added and `relu` applied. The plain equivalent of these two is relu(batch_norm(x).y + add).
BatchNormResult batch_norm(const Tensor& x, const BatchNormOptions& options = {});

}  // namespace heed
