#include "heed/attention/visible_pairs.h"

#include <algorithm>
#include <array>

#include "heed/base/arena.h"

namespace heed {
namespace {

constexpr std::int64_t kRows = 64;  // at a time

std::int64_t pairs_in(const kernels::Region& region, const kernels::Visibility& mask) {
  std::array<std::int64_t, kRows> first, last;
  std::int64_t pairs = 0;
  if (mask.intervals(region, first.data(), last.data())) {
    for (std::int64_t r = 0; r < region.rows; ++r) {
      pairs += last[static_cast<std::size_t>(r)] - first[static_cast<std::size_t>(r)];
    }
    return pairs;
  }
  const Scratch<std::uint8_t> visible(region.rows * region.cols);
  mask.fill(region, visible.data(), region.rows);
  for (std::int64_t i = 0; i < visible.size(); ++i) pairs += visible[i];
  return pairs;
}

}  // namespace

std::int64_t visible_pairs(const kernels::AttentionShape& shape, const kernels::Visibility* mask) {
  std::int64_t pairs = 0;
  for (std::int64_t b = 0; b < shape.B; ++b) {
    const std::int64_t queries = shape.queries(b), keys = shape.keys(b);
    if (mask == nullptr) {
      pairs += shape.H * queries * keys;
      continue;
    }
    for (std::int64_t h = 0; h < shape.H; ++h) {
      for (std::int64_t row = 0; row < queries && keys > 0; row += kRows) {
        pairs += pairs_in({.batch = b,
                           .head = h,
                           .row = row,
                           .rows = std::min(kRows, queries - row),
                           .col = 0,
                           .cols = keys},
                          *mask);
      }
    }
  }
  return pairs;
}

}  // namespace heed
