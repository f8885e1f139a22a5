// Softmax and log-softmax along rows, shifted by the maximum of the row so that nothing overflows.
// If a whole row is -inf (all masked), softmax is 0 and log-softmax -inf, not NaN.
#pragma once

#include "heed/kernels/rows.h"

namespace heed::kernels {

/// y = exp(x) / sum(exp(x)); y may be x.
void softmax(Rows rows, const float* x, float* y);
void softmax(Rows rows, const double* x, double* y);

/// dx = y * (dy - sum(dy * y)); dx may be dy.
void softmax_backward(Rows rows, const float* y, const float* dy, float* dx);
void softmax_backward(Rows rows, const double* y, const double* dy, double* dx);

/// y = x - log(sum(exp(x))); y may be x.
void log_softmax(Rows rows, const float* x, float* y);
void log_softmax(Rows rows, const double* x, double* y);

/// dx = dy - exp(y) * sum(dy); dx may be dy.
void log_softmax_backward(Rows rows, const float* y, const float* dy, float* dx);
void log_softmax_backward(Rows rows, const double* y, const double* dy, double* dx);

}  // namespace heed::kernels
