#include "heed/generation/picture_batch.h"

#include "heed/base/error.h"
#include "heed/tensor/create.h"

namespace heed {

Picture fitted(const Picture& picture, const PictureSize& size) {
  return fitted(with_channels(picture, size.channels), size.height, size.width);
}

Tensor picture_batch(std::string_view verb, std::span<const Picture> pictures,
                     const PictureSize& size, const PictureScale& scale) {
  const auto [C, H, W] = size;
  const PictureShape shape{C, H, W};
  Tensor x = empty({std::ssize(pictures), C, H, W});  // [B, C, H, W]
  float* to = x.mutable_data<float>();
  for (const Picture& picture : pictures) {
    HEED_CHECK(picture.shape == shape,
               "[{}] a picture of {} x {} x {}: the model reads {} x {} x {}; use fitted()", verb,
               picture.shape.channels, picture.shape.height, picture.shape.width, C, H, W);
    write_numbers(picture.bytes, shape, scale, {}, to);
    to += shape.bytes();
  }
  return x;
}

}  // namespace heed
