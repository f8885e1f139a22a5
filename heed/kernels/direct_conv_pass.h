// What the parts of direct_conv.cpp share: padded planes, and the work on one picture.
#pragma once

#include <algorithm>
#include <cstdint>

#include "heed/base/arena.h"
#include "heed/kernels/window.h"

namespace heed::kernels {

/// 4 x 3 vectors of sums need 7 loads for 12 multiply-adds, and fill the registers of AVX2.
inline constexpr std::int64_t kTileChannels = 4;
inline constexpr std::int64_t kTileVectors = 3;
inline constexpr std::int64_t kSlack =
    64;  // elements after a buffer, which the last vector may read

/// Channels of padded planes, one after another, and the outputs of a window of stride 1 on them.
struct Planes {
  std::int64_t channels;
  std::int64_t height, width;  // of a padded plane
  std::int64_t rows, columns;  // of the outputs
  Window window;

  std::int64_t size() const { return height * width; }
  std::int64_t elements() const { return channels * size() + kSlack; }
  std::int64_t depth() const { return channels * window.taps(); }
  /// Where the inputs of the output 0 lie for row r of the depth: (channel, tap).
  std::int64_t offset(std::int64_t r) const {
    const std::int64_t tap = r % window.taps();
    return r / window.taps() * size() + tap / window.columns.kernel * window.rows.dilation * width +
           tap % window.columns.kernel * window.columns.dilation;
  }
};

/// The planes of `channels` channels that are padded by these numbers on each side.
inline Planes planes_of(const Window& w, std::int64_t channels, std::int64_t above,
                        std::int64_t left) {
  const std::int64_t height = w.rows.size + 2 * above, width = w.columns.size + 2 * left;
  return {.channels = channels,
          .height = height,
          .width = width,
          .rows = height - w.rows.reach() + 1,
          .columns = width - w.columns.reach() + 1,
          .window = w};
}

/// Copies planes into the middle of padded ones.
inline void pad_planes(const Planes& p, const float* x, float* to) {
  const std::int64_t height = p.window.rows.size, width = p.window.columns.size;
  const std::int64_t above = (p.height - height) / 2, left = (p.width - width) / 2;
  std::fill_n(to, p.elements(), 0.0f);
  for (std::int64_t c = 0; c < p.channels; ++c) {
    for (std::int64_t row = 0; row < height; ++row) {
      std::copy_n(x + (c * height + row) * width, width,
                  to + c * p.size() + (above + row) * p.width + left);
    }
  }
}

/// The offsets of all rows of the depth.
class Offsets {
 public:
  explicit Offsets(const Planes& planes) : all_(planes.depth()) {
    for (std::int64_t r = 0; r < planes.depth(); ++r) all_[r] = planes.offset(r);
  }
  const std::int64_t* data() const { return all_.data(); }

 private:
  Scratch<std::int64_t> all_;
};

/// One picture: padded planes and packed weights [channels / 4][depth][4] give the output rows
/// [begin, end).
struct PictureConv {
  const Planes& planes;
  const std::int64_t* offsets;  // [depth]
  const float* padded;
  const float* weights;
  const float* bias;          // [out_channels], or null
  std::int64_t out_channels;  // the last of the packed ones may be missing
  Range rows;
  float* y;  // [out_channels, rows, columns]
};

/// Some pictures: their padded planes and the gradients of their outputs, whose rows are padded
/// with 0 to whole vectors.
struct WeightGradient {
  const Planes& planes;
  const std::int64_t* offsets;  // [depth]
  std::int64_t pictures;
  const float* padded;      // planes.elements() for each picture
  const float* dy;          // [pictures, out_channels, rows, dy_width]
  std::int64_t dy_picture;  // from one picture to the next
  std::int64_t dy_width;
  std::int64_t out_channels;
  float* dw;  // [out_channels, depth], added to
};

}  // namespace heed::kernels
