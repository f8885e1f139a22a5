// Pictures as the numbers that models compute with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heed/io/fields.h"
#include "heed/pictures/picture.h"

namespace heed {

/// How bytes become numbers: (byte / 255 - mean) / deviation, for each channel.
struct PictureScale {
  std::vector<double> mean, deviation;

  void fields(io::Fields& field);
};

/// How a picture is changed before: moved down and right by so many pixels, then mirrored. Pixels
/// that come in from outside become 0, the mean.
struct PictureChange {
  std::int64_t down = 0, right = 0;
  bool mirrored = false;
};

/// Writes a picture as numbers, [channels, height, width].
void write_numbers(std::span<const std::uint8_t> bytes, const PictureShape& shape,
                   const PictureScale& scale, const PictureChange& change, float* to);

}  // namespace heed
