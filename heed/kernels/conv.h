// Convolution of [batch, channels, plane] with a sliding window, and its two gradients; contiguous.
// float: patches are copied as columns into a block that fits the cache and multiplied (im2col +
// gemm). A pointwise kernel needs no copy. Strides of 1 are computed in direct_conv.h, and one
// channel per group in depthwise.h.
// double: the plain twin in reference/conv.h.
#pragma once

#include <cstdint>

#include "heed/kernels/window.h"

namespace heed::kernels {

/// Sizes of a convolution.
struct ConvShape {
  std::int64_t batch;
  std::int64_t in_channels;   // of all groups together
  std::int64_t out_channels;  // of all groups together
  std::int64_t groups;
  Window window;

  std::int64_t group_in() const { return in_channels / groups; }
  std::int64_t group_out() const { return out_channels / groups; }
};

/// y[b, o, :] = bias[o] + weight[o, c, tap] * x[b, c, :] summed over the group's channels c; weight
/// is [out_channels, group_in, taps], bias may be null.
void conv(const ConvShape& shape, const float* x, const float* weight, const float* bias, float* y);
void conv(const ConvShape& shape, const double* x, const double* weight, const double* bias,
          double* y);

/// dx from the gradient of y; overwritten.
void conv_backward_input(const ConvShape& shape, const float* weight, const float* dy, float* dx);
void conv_backward_input(const ConvShape& shape, const double* weight, const double* dy,
                         double* dx);

/// dw from the gradient of y; overwritten.
void conv_backward_weight(const ConvShape& shape, const float* x, const float* dy, float* dw);
void conv_backward_weight(const ConvShape& shape, const double* x, const double* dy, double* dw);

}  // namespace heed::kernels
