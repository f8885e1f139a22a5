// Convolutions of stride 1 without patches: the products read a padded copy of the picture in
// place, at an offset for each (channel, tap). Patches would be `taps` times as large as the
// picture, and products of a few output channels spend much of their time packing them. The plain
// twin is reference/conv.h; conv.h chooses between this and patches.
#pragma once

#include "heed/kernels/conv.h"

namespace heed::kernels {

/// Whether the functions below compute this convolution and are fast for it.
bool is_direct(const ConvShape& shape);

/// As the functions of conv.h without "direct".
void direct_conv(const ConvShape& shape, const float* x, const float* weight, const float* bias,
                 float* y);
void direct_conv_backward_input(const ConvShape& shape, const float* weight, const float* dy,
                                float* dx);
void direct_conv_backward_weight(const ConvShape& shape, const float* x, const float* dy,
                                 float* dw);

}  // namespace heed::kernels
