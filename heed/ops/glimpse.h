// The glimpse sensor (Mnih et al. 2014): square patches of a picture around a location, one for
// each scale. A patch of scale s covers 2^s times the side of the first one and is averaged down to
// the same number of pixels, so that what is far from the location is seen coarsely.
#pragma once

#include "heed/tensor/tensor.h"

namespace heed {

/// Options of glimpse and glimpse_weights.
struct GlimpseOptions {
  std::int64_t patch = 8;   // pixels of the side of a patch
  std::int64_t scales = 1;  // number of patches
};

/// Pictures [B, C, H, W] and locations [B, 2] -> patches [B, scales, C, patch, patch]. A location
/// is (vertical, horizontal): (-1, -1) is the upper left corner, (0, 0) the middle, (1, 1) the
/// lower right corner; locations outside are moved to the border. Patches begin at whole pixels.
/// Outside the picture they have the value of the nearest pixel. Gradients go to the pictures
/// alone.
Tensor glimpse(const Tensor& pictures, const Tensor& locations, const GlimpseOptions& options = {});

/// The share of each pixel in the patches at locations [B, 2], for pictures of height x width:
/// [B, height * width] in f32; rows sum to 1. All scales count alike.
Tensor glimpse_weights(const Tensor& locations, std::int64_t height, std::int64_t width,
                       const GlimpseOptions& options = {});

}  // namespace heed
