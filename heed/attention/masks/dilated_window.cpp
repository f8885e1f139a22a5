// dilated_window: a window with gaps.
#include "heed/attention/masks.h"

#include <algorithm>

#include "heed/attention/masks/query_positions.h"
#include "heed/base/error.h"

namespace heed {
namespace {

using kernels::Cover;
using kernels::Region;

// The greatest multiple of step that is at most n.
std::int64_t round_down(std::int64_t n, std::int64_t step) {
  const std::int64_t rest = n % step;
  return rest < 0 ? n - rest - step : n - rest;
}

class Dilated : public kernels::Visibility {
 public:
  Dilated(const DilatedWindow& window, QueryPositions positions)
      : step_(window.step),
        before_(window.left * window.step),
        after_(window.right * window.step),
        positions_(std::move(positions)) {}

  bool intervals(const Region& region, std::int64_t* first, std::int64_t* last) const override {
    const std::int64_t end = region.col + region.cols;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const std::int64_t position = positions_(region.batch, region.row + r);
      first[r] = std::clamp(position - before_, region.col, end);
      last[r] = std::clamp(position + after_ + 1, first[r], end);
    }
    return step_ == 1;
  }

  // The distances of keys from queries in a rectangle have no gaps.
  Cover cover(const Region& region) const override {
    if (region.rows == 0 || region.cols == 0) return Cover::none;
    const std::int64_t first = positions_(region.batch, region.row);
    const std::int64_t least = region.col - (first + region.rows - 1);
    const std::int64_t most = region.col + region.cols - 1 - first;
    if (round_down(std::min(most, after_), step_) < std::max(least, -before_)) return Cover::none;
    const bool all = (step_ == 1 || least == most) && least >= -before_ && most <= after_;
    return all ? Cover::all : Cover::some;
  }

  void fill(const Region& region, std::uint8_t* visible, std::int64_t stride) const override {
    const std::int64_t first = positions_(region.batch, region.row);
    for (std::int64_t c = 0; c < region.cols; ++c) {
      std::uint8_t* const to = visible + c * stride;
      std::fill_n(to, region.rows, std::uint8_t{0});
      const std::int64_t ahead =
          region.col + c - first;  // distance from the first row; from row r: ahead - r
      std::int64_t distance = round_down(std::min(after_, ahead), step_);
      for (; distance >= -before_ && ahead - distance < region.rows; distance -= step_) {
        to[ahead - distance] = 1;
      }
    }
  }

 private:
  std::int64_t step_, before_, after_;
  QueryPositions positions_;
};

}  // namespace

Mask dilated_window(const DilatedWindow& window, Corner corner) {
  HEED_CHECK(window.left >= 0 && window.right >= 0,
             "[dilated_window] left {}, right {}: neither may be negative", window.left,
             window.right);
  HEED_CHECK(window.step >= 1, "[dilated_window] step {}: it must be at least 1", window.step);
  const DilatedWindow limited{.left = std::min(window.left, kFarPosition),
                              .right = std::min(window.right, kFarPosition),
                              .step = std::min(window.step, kFarPosition)};
  return position_mask<Dilated>("dilated_window", limited, corner);
}

}  // namespace heed
