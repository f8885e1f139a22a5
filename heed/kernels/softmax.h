// Softmax and its logarithm along rows, shifted by the row's maximum so that nothing overflows.
// A row that is -inf throughout (all masked) has softmax 0 and log-softmax -inf, not NaN.
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
