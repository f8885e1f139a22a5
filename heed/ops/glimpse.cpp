#include "heed/ops/glimpse.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/ops/index.h"
#include "heed/ops/join.h"
#include "heed/ops/pool.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"

namespace heed {
namespace {

constexpr std::int64_t kMaxGlimpseScales = 16;

void check_glimpse(const Tensor& locations, std::int64_t rows, const GlimpseOptions& options) {
  HEED_CHECK(options.patch >= 1 && options.scales >= 1 && options.scales <= kMaxGlimpseScales,
             "[glimpse] patches of {} pixels in {} scales: give at least 1 pixel, and 1 to {} "
             "scales",
             options.patch, options.scales, kMaxGlimpseScales);
  HEED_CHECK(locations.shape() == (Shape{rows, 2}),
             "[glimpse] locations are {}: they must be [{}, 2], vertical and horizontal",
             to_string(locations.shape()), rows);
}

// The pixels along one side of the picture that a patch has, from its first to its last. A location
// that is not a number counts as the middle, so that a diverged run ends by its loss.
std::vector<std::int64_t> pixels_along(double location, std::int64_t side, std::int64_t size) {
  const double at = std::isnan(location) ? 0.0 : std::clamp(location, -1.0, 1.0);
  const auto begin = static_cast<std::int64_t>(
      std::llround(0.5 * (at + 1.0) * static_cast<double>(size) - 0.5 * static_cast<double>(side)));
  std::vector<std::int64_t> pixels(static_cast<std::size_t>(side));
  for (std::int64_t i = 0; i < side; ++i) {
    pixels[static_cast<std::size_t>(i)] = std::clamp<std::int64_t>(begin + i, 0, size - 1);
  }
  return pixels;
}

// Calls use(b, i, place) for each pixel i of the patch of each picture b, row by row; `place` is
// its place in the picture.
template <typename Use>
void for_each_pixel(const Tensor& locations, std::int64_t height, std::int64_t width,
                    std::int64_t side, const Use& use) {
  const std::vector<double> at = cast_data(locations, DType::f64).to_vector<double>();
  for (std::int64_t b = 0; b < locations.size(0); ++b) {
    const std::vector<std::int64_t> rows =
        pixels_along(at[static_cast<std::size_t>(2 * b)], side, height);
    const std::vector<std::int64_t> columns =
        pixels_along(at[static_cast<std::size_t>(2 * b + 1)], side, width);
    std::int64_t i = 0;
    for (const std::int64_t row : rows) {
      for (const std::int64_t column : columns) use(b, i++, row * width + column);
    }
  }
}

}  // namespace

Tensor glimpse(const Tensor& pictures, const Tensor& locations, const GlimpseOptions& options) {
  HEED_CHECK(pictures.rank() == 4 && pictures.size(2) > 0 && pictures.size(3) > 0,
             "[glimpse] pictures are {}: they must be [B, C, H, W] with pixels",
             to_string(pictures.shape()));
  check_glimpse(locations, pictures.size(0), options);
  const std::int64_t B = pictures.size(0), C = pictures.size(1);
  const std::int64_t H = pictures.size(2), W = pictures.size(3);
  const Tensor flat = reshape(pictures, {B, C, H * W});
  std::vector<Tensor> patches;
  for (std::int64_t s = 0; s < options.scales; ++s) {
    const std::int64_t side = options.patch << s, count = side * side;
    Tensor places = empty({B, C, count}, DType::i64);
    std::int64_t* const to = places.mutable_data<std::int64_t>();
    for_each_pixel(locations, H, W, side, [&](std::int64_t b, std::int64_t i, std::int64_t place) {
      for (std::int64_t c = 0; c < C; ++c) to[(b * C + c) * count + i] = place;
    });
    const Tensor patch = reshape(gather(flat, 2, places), {B, C, side, side});
    patches.push_back(s == 0 ? patch : avg_pool2d(patch, std::int64_t{1} << s));  // [B, C, P, P]
  }
  return stack(patches, 1);  // [B, scales, C, P, P]
}

Tensor glimpse_weights(const Tensor& locations, std::int64_t height, std::int64_t width,
                       const GlimpseOptions& options) {
  HEED_CHECK(locations.rank() == 2 && height > 0 && width > 0,
             "[glimpse] locations are {} for pictures of {} x {} pixels: give [B, 2], and pixels",
             to_string(locations.shape()), height, width);
  check_glimpse(locations, locations.size(0), options);
  Tensor weights = zeros({locations.size(0), height * width});
  float* const to = weights.mutable_data<float>();
  for (std::int64_t s = 0; s < options.scales; ++s) {
    const std::int64_t side = options.patch << s;
    const auto each = static_cast<float>(1.0 / static_cast<double>(side * side * options.scales));
    for_each_pixel(locations, height, width, side,
                   [&](std::int64_t b, std::int64_t, std::int64_t place) {
                     to[b * height * width + place] += each;
                   });
  }
  return weights;
}

}  // namespace heed
