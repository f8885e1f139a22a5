// Layer norm (Ba et al., 2016) and RMS norm (Zhang and Sennrich, 2019) along rows, with the
// preceding residual sum in the same pass:
//   s = x + residual;  y = (s - mean) * rstd * weight + bias,  rstd = 1 / sqrt(variance + eps);
// RMS norm uses 0 as the mean. A row is read once from memory and stays in L1 for its passes.
#pragma once

#include "heed/kernels/rows.h"

namespace heed::kernels {

/// The kind of normalisation.
enum class Norm : std::uint8_t { layer, rms };

/// Optional pointers may be null: without a residual `sum` is not written; a missing weight is 1
/// and a missing bias is 0.
template <typename T>
struct NormForward {
  Rows rows;
  double eps;
  const T* x;
  const T* residual;  // optional
  const T* weight;    // [width], optional
  const T* bias;      // [width], optional
  T* sum;             // x + residual, for the gradient and the next residual
  T* y;
  T* mean;  // [rows]
  T* rstd;  // [rows]
};

/// dx = rstd * (g - mean(g) - n * mean(g * n)) + dsum with g = dy * weight, n = (s - mean) * rstd;
/// dweight = sum of dy * n and dbias = sum of dy over rows.
template <typename T>
struct NormBackward {
  Rows rows;
  const T* input;   // x, or x + residual
  const T* weight;  // [width], optional
  const T* mean;
  const T* rstd;
  const T* dy;
  const T* dsum;  // gradient of the sum as a second output, optional
  T* dx;
  T* dweight;  // [width], optional
  T* dbias;    // [width], optional
};

void norm(Norm kind, const NormForward<float>& call);
void norm(Norm kind, const NormForward<double>& call);

void norm_backward(Norm kind, const NormBackward<float>& call);
void norm_backward(Norm kind, const NormBackward<double>& call);

}  // namespace heed::kernels
