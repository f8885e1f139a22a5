// Pictures as bytes, 0 to 255, and how one is brought to another size or number of channels.
#pragma once

#include <cstdint>
#include <vector>

namespace heed {

/// The size of a picture: [channels, height, width]; 1 channel is grey, 3 are red, green and blue.
struct PictureShape {
  std::int64_t channels = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;

  std::int64_t places() const { return height * width; }
  std::int64_t bytes() const { return channels * places(); }
  friend bool operator==(const PictureShape&, const PictureShape&) = default;
};

/// The most pixels along a side that are read. Larger files are refused before memory is taken.
inline constexpr std::int64_t kMaxPictureSide = 1 << 15;

struct Picture {
  PictureShape shape;
  std::vector<std::uint8_t> bytes;  // [channels, height, width]
};

/// The picture in grey (luma of ITU-R BT.601) or in three equal channels; 1 or 3.
Picture with_channels(const Picture& picture, std::int64_t channels);

/// The picture scaled so that it covers height x width, and cut to that size around its middle.
/// Each new pixel is the mean of the part of the old picture that it covers.
Picture fitted(const Picture& picture, std::int64_t height, std::int64_t width);

}  // namespace heed
