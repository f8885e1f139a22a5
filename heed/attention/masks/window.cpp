// causal and window: bands along the diagonal.
#include "heed/attention/masks.h"

#include <algorithm>

#include "heed/attention/masks/interval.h"
#include "heed/attention/masks/query_positions.h"
#include "heed/base/error.h"

namespace heed {
namespace {

class Band : public IntervalVisibility<Band> {
 public:
  Band(Interval around, QueryPositions positions)
      : around_(around), positions_(std::move(positions)) {}
  Interval interval(std::int64_t batch, std::int64_t row) const {
    const std::int64_t position = positions_(batch, row);
    return {position + around_.first, position + around_.last};
  }

 private:
  Interval around_;  // relative to the position
  QueryPositions positions_;
};

// Larger than every position, and no overflow when one is added.
constexpr std::int64_t kBeyondEveryPosition = std::int64_t{1} << 60;

}  // namespace

Mask causal(Corner corner) {
  return position_mask<Band>("causal", Interval{-kBeyondEveryPosition, 1}, corner);
}

Mask window(std::int64_t left, std::int64_t right, Corner corner) {
  HEED_CHECK(left >= 0 && right >= 0,
             "[window] left {}, right {}: neither may be negative; kUnlimited lifts a limit", left,
             right);
  const Interval around{-std::min(left, kBeyondEveryPosition),
                        std::min(right, kBeyondEveryPosition) + 1};
  return position_mask<Band>("window", around, corner);
}

}  // namespace heed
