// window_around: a window around the centre of each query.
#include "heed/attention/masks.h"

#include <algorithm>
#include <cmath>

#include "heed/attention/masks/interval.h"
#include "heed/attention/stage.h"
#include "heed/base/error.h"
#include "heed/tensor/copy.h"

namespace heed {
namespace {

using kernels::AttentionShape;

// Larger than every key, and an integer in double.
constexpr double kBeyondEveryKey = 0x1p60;

// A NaN centre shows every key, so that NaN appears in the result; showing no key would hide it.
Interval around(double centre, double reach) {
  if (std::isnan(centre)) return {0, static_cast<std::int64_t>(kBeyondEveryKey)};
  const auto key = [](double x) {
    return static_cast<std::int64_t>(std::clamp(x, -kBeyondEveryKey, kBeyondEveryKey));
  };
  return {key(std::ceil(centre - reach)), key(std::floor(centre + reach)) + 1};
}

class Around : public IntervalVisibility<Around> {
 public:
  Around(const Tensor& centres, double reach, const AttentionShape& shape)
      : centres_(centres),
        batch_(centres.size(0) == shape.B ? centres.strides()[0] : 0),
        head_(centres.size(1) == shape.H ? centres.strides()[1] : 0),
        reach_(reach) {}
  Interval interval(std::int64_t batch, std::int64_t head, std::int64_t row) const {
    return around(centres_.data<double>()[batch * batch_ + head * head_ + row], reach_);
  }

 private:
  Tensor centres_;
  std::int64_t batch_, head_;
  double reach_;
};

class WindowAround : public MaskImpl {
 public:
  WindowAround(Tensor centres, double reach) : centres_(std::move(centres)), reach_(reach) {}
  std::string name() const override { return "window_around"; }
  std::unique_ptr<kernels::Visibility> bind(const AttentionShape& shape) const override {
    check_query_numbers(name(), "centres", centres_, shape);
    return std::make_unique<Around>(centres_, reach_, shape);
  }

 private:
  Tensor centres_;  // in f64, contiguous
  double reach_;
};

}  // namespace

Mask window_around(const Tensor& centres, double reach) {
  HEED_CHECK(centres.defined() && centres.rank() == 3,
             "[window_around] centres {}: they must be [B, H, Tq], one for each query",
             centres.defined() ? to_string(centres.shape()) : "undefined");
  HEED_CHECK(reach >= 0.0, "[window_around] reach {}: it must not be negative", reach);
  const Tensor exact = cast_data(centres.detach(), DType::f64);
  return make_mask<WindowAround>(contiguous_copy(exact), reach);
}

}  // namespace heed
