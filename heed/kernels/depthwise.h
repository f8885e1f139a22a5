// Convolution with one input channel per group (Chollet 2016): products of rows instead of
// matrices. float only; the twin is the general one in reference/conv.h.
#pragma once

#include "heed/kernels/conv.h"

namespace heed::kernels {

/// The functions of conv.h for shapes with group_in() == 1.
void depthwise(const ConvShape& shape, const float* x, const float* weight, const float* bias,
               float* y);
void depthwise_backward_input(const ConvShape& shape, const float* weight, const float* dy,
                              float* dx);
void depthwise_backward_weight(const ConvShape& shape, const float* x, const float* dy, float* dw);

}  // namespace heed::kernels
