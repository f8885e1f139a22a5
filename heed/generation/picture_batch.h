// Pictures as a batch of numbers, for models of the size that they must have.
#pragma once

#include <span>
#include <string_view>

#include "heed/models/model.h"
#include "heed/pictures/picture_scale.h"

namespace heed {

/// A picture with the size and the channels that a model reads.
Picture fitted(const Picture& picture, const PictureSize& size);

/// Pictures of that size as numbers, [B, C, H, W]; `verb` is named in messages.
Tensor picture_batch(std::string_view verb, std::span<const Picture> pictures,
                     const PictureSize& size, const PictureScale& scale);

}  // namespace heed
