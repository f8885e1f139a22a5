// Masks that show one interval of keys to each query: a derived class gives the interval, this one
// does the rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heed/attention/masks/pieces.h"
#include "heed/kernels/attention/visibility.h"

namespace heed {

/// Keys [first, last); none if last <= first. May extend beyond the existing keys.
struct Interval {
  std::int64_t first = 0, last = 0;
};

/// Self has `Interval interval(batch, row) const`, or with arguments (batch, head, row).
template <typename Self>
class IntervalVisibility : public kernels::Visibility {
 public:
  bool intervals(const kernels::Region& region, std::int64_t* first,
                 std::int64_t* last) const final {
    const std::int64_t end = region.col + region.cols;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const Interval visible = of(region, r);
      first[r] = std::clamp(visible.first, region.col, end);
      last[r] = std::clamp(visible.last, first[r], end);
    }
    return true;
  }

  kernels::Cover cover(const kernels::Region& region) const final {
    bool all = true, none = true;
    for (std::int64_t r = 0; r < region.rows; ++r) {
      const Interval visible = of(region, r);
      all = all && visible.first <= region.col && visible.last >= region.col + region.cols;
      none = none && std::min(visible.last, region.col + region.cols) <=
                         std::max(visible.first, region.col);
    }
    return all ? kernels::Cover::all : none ? kernels::Cover::none : kernels::Cover::some;
  }

  void fill(const kernels::Region& region, std::uint8_t* visible, std::int64_t stride) const final {
    std::array<std::int64_t, kPieceRows> first, last;
    for_each_rows(region, [&](const kernels::Region& piece, std::int64_t r0) {
      intervals(piece, first.data(), last.data());
      for (std::int64_t c = 0; c < piece.cols; ++c) {
        const std::int64_t key = piece.col + c;
        std::uint8_t* const to = visible + c * stride + r0;
        for (std::size_t r = 0; r < static_cast<std::size_t>(piece.rows); ++r) {
          to[r] = static_cast<std::uint8_t>((first[r] <= key) & (key < last[r]));
        }
      }
    });
  }

 private:
  Interval of(const kernels::Region& region, std::int64_t r) const {
    const Self& self = static_cast<const Self&>(*this);
    if constexpr (requires { self.interval(region.batch, region.head, r); }) {
      return self.interval(region.batch, region.head, region.row + r);
    } else {
      return self.interval(region.batch, region.row + r);
    }
  }
};

}  // namespace heed
