#include "heed/pictures/picture_scale.h"

namespace heed {

void PictureScale::fields(io::Fields& field) {
  field("mean", mean, "mean of each channel, from 0 to 1");
  field("deviation", deviation, "standard deviation of each channel");
}

void write_numbers(std::span<const std::uint8_t> bytes, const PictureShape& shape,
                   const PictureScale& scale, const PictureChange& change, float* to) {
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const double factor = 1.0 / (255.0 * scale.deviation[channel]);
    const double offset = -scale.mean[channel] / scale.deviation[channel];
    const std::uint8_t* const plane = bytes.data() + c * shape.places();
    for (std::int64_t y = 0; y < shape.height; ++y) {
      const std::int64_t row = y - change.down;
      for (std::int64_t x = 0; x < shape.width; ++x) {
        const std::int64_t column = (change.mirrored ? shape.width - 1 - x : x) - change.right;
        const bool is_inside =
            row >= 0 && row < shape.height && column >= 0 && column < shape.width;
        *to++ = is_inside ? static_cast<float>(plane[row * shape.width + column] * factor + offset)
                          : 0.0f;
      }
    }
  }
}

}  // namespace heed
