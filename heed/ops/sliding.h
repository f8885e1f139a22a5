// Sizes and checks shared by convolutions and pooling.
#pragma once

#include <algorithm>

#include "heed/base/error.h"
#include "heed/kernels/window.h"

namespace heed {

/// A height and a width; one number sets both.
struct Size2d {
  std::int64_t height;
  std::int64_t width;
  Size2d(std::int64_t both)  // NOLINT(google-explicit-constructor): meant to convert in options
      : height(both), width(both) {}
  Size2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
};

namespace detail {

/// Returns the axis, or throws an error that names the op and the problem.
inline kernels::SlidingAxis checked_axis(const char* op, const kernels::SlidingAxis& a) {
  HEED_CHECK(a.kernel >= 1, "[{}] a kernel of size {}: it must be at least 1", op, a.kernel);
  HEED_CHECK(a.stride >= 1, "[{}] stride {}: it must be at least 1", op, a.stride);
  HEED_CHECK(a.dilation >= 1, "[{}] dilation {}: it must be at least 1", op, a.dilation);
  HEED_CHECK(a.padding >= 0, "[{}] padding {}: it must not be negative", op, a.padding);
  constexpr std::int64_t kMost = std::int64_t{1} << 31;  // products of two stay in range
  HEED_CHECK(std::max({a.kernel, a.stride, a.dilation, a.padding}) < kMost,
             "[{}] kernel {}, stride {}, dilation {}, padding {}: all must be below 2^31", op,
             a.kernel, a.stride, a.dilation, a.padding);
  HEED_CHECK(a.fits(),
             "[{}] a kernel of {} (dilation {}) does not fit an axis of size {} with padding {}: "
             "it reaches over {}",
             op, a.kernel, a.dilation, a.size, a.padding, a.reach());
  return a;
}

}  // namespace detail
}  // namespace heed
