#include "heed/pictures/picture.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"

namespace heed {
namespace {

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

// The share of the old pixels in one new pixel along an axis: pixels [begin, begin + n).
struct Coverage {
  std::int64_t begin = 0;
  std::vector<double> shares = {};  // they add up to 1
};

// How `to` new pixels cover `from` old ones when `step` old pixels are as wide as a new one, and
// the part that is kept is in the middle.
std::vector<Coverage> cover(std::int64_t from, std::int64_t to, double step) {
  const double offset = (static_cast<double>(from) - step * static_cast<double>(to)) / 2.0;
  std::vector<Coverage> covered;
  for (std::int64_t i = 0; i < to; ++i) {
    // A picture that is enlarged still needs at least one whole pixel to take a value from.
    const double middle = offset + (static_cast<double>(i) + 0.5) * step;
    const double half = std::max(step, 1.0) / 2.0;
    const double low = std::max(0.0, middle - half);
    const double high = std::min(static_cast<double>(from), middle + half);
    Coverage one{.begin = static_cast<std::int64_t>(low)};
    for (std::int64_t at = one.begin; at < from && static_cast<double>(at) < high; ++at) {
      const double part =
          std::min(high, static_cast<double>(at + 1)) - std::max(low, static_cast<double>(at));
      one.shares.push_back(part / (high - low));
    }
    covered.push_back(std::move(one));
  }
  return covered;
}

}  // namespace

Picture with_channels(const Picture& picture, std::int64_t channels) {
  HEED_CHECK(channels == 1 || channels == 3, "[picture] {} channels: there must be 1 or 3",
             channels);
  if (picture.shape.channels == channels) return picture;
  PictureShape shape = picture.shape;
  shape.channels = channels;
  Picture result{shape, {}};
  const auto places = static_cast<std::size_t>(shape.places());
  const std::uint8_t* const from = picture.bytes.data();
  if (channels == 3) {
    for (int c = 0; c < 3; ++c) result.bytes.insert(result.bytes.end(), from, from + places);
    return result;
  }
  for (std::size_t i = 0; i < places; ++i) {
    result.bytes.push_back(
        to_byte(0.299 * from[i] + 0.587 * from[places + i] + 0.114 * from[2 * places + i]));
  }
  return result;
}

Picture fitted(const Picture& picture, std::int64_t height, std::int64_t width) {
  const PictureShape& old = picture.shape;
  HEED_CHECK(height > 0 && width > 0 && old.bytes() > 0,
             "[picture] {} x {} pixels cannot become {} x {}", old.height, old.width, height,
             width);
  if (old.height == height && old.width == width) return picture;
  const double step = std::min(static_cast<double>(old.height) / static_cast<double>(height),
                               static_cast<double>(old.width) / static_cast<double>(width));
  const std::vector<Coverage> rows = cover(old.height, height, step);
  const std::vector<Coverage> columns = cover(old.width, width, step);
  Picture result{{old.channels, height, width}, {}};
  result.bytes.reserve(static_cast<std::size_t>(result.shape.bytes()));
  for (std::int64_t c = 0; c < old.channels; ++c) {
    const std::uint8_t* const plane = picture.bytes.data() + c * old.places();
    for (const Coverage& row : rows) {
      for (const Coverage& column : columns) {
        double value = 0.0;
        for (std::size_t i = 0; i < row.shares.size(); ++i) {
          const std::uint8_t* const line =
              plane + (row.begin + static_cast<std::int64_t>(i)) * old.width + column.begin;
          for (std::size_t j = 0; j < column.shares.size(); ++j) {
            value += row.shares[i] * column.shares[j] * line[j];
          }
        }
        result.bytes.push_back(to_byte(value));
      }
    }
  }
  return result;
}

}  // namespace heed
