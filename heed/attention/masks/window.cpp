#include "heed/attention/masks/window.h"

#include <algorithm>

#include "heed/attention/masks/interval.h"
#include "heed/base/arena_vector.h"
#include "heed/base/error.h"

namespace heed {
namespace {

class Band : public IntervalVisibility<Band> {
 public:
  Band(Interval around, ArenaVector<std::int64_t> shifts)
      : around_(around), shifts_(std::move(shifts)) {}
  Interval interval(std::int64_t batch, std::int64_t row) const {
    const std::int64_t position = row + shifts_[static_cast<std::size_t>(batch)];
    return {position + around_.first, position + around_.last};
  }

 private:
  Interval around_;
  ArenaVector<std::int64_t> shifts_;
};

class Window : public MaskImpl {
 public:
  Window(const char* name, Interval around, Corner corner)
      : name_(name), around_(around), corner_(corner) {}
  std::string name() const override { return name_; }
  std::unique_ptr<kernels::Visibility> bind(const kernels::AttentionShape& shape) const override {
    ArenaVector<std::int64_t> shifts;
    shifts.reserve(static_cast<std::size_t>(shape.B));
    for (std::int64_t b = 0; b < shape.B; ++b) {
      shifts.push_back(corner_.shift(shape.queries(b), shape.keys(b)));
    }
    return std::make_unique<Band>(around_, std::move(shifts));
  }

 private:
  const char* name_;
  Interval around_;  // of the position
  Corner corner_;
};

// Beyond every position, and far from overflow when added to one.
constexpr std::int64_t kBeyondEveryPosition = std::int64_t{1} << 60;

}  // namespace

Mask causal(Corner corner) {
  return make_mask<Window>("causal", Interval{-kBeyondEveryPosition, 1}, corner);
}

Mask window(std::int64_t left, std::int64_t right, Corner corner) {
  HEED_CHECK(left >= 0 && right >= 0,
             "[window] left {}, right {}: neither may be negative; kUnlimited lifts a limit", left,
             right);
  const Interval around{-std::min(left, kBeyondEveryPosition),
                        std::min(right, kBeyondEveryPosition) + 1};
  return make_mask<Window>("window", around, corner);
}

}  // namespace heed
