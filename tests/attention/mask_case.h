// A mask and its meaning as a predicate, and the comparison of the two.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "heed/attention/mask.h"
#include "heed/base/random.h"

namespace heed::test {

struct MaskCase {
  Mask mask;
  std::function<bool(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)> sees;

  friend MaskCase operator&(const MaskCase& x, const MaskCase& y) {
    return {x.mask & y.mask, [x, y](auto... at) { return x.sees(at...) && y.sees(at...); }};
  }
  friend MaskCase operator|(const MaskCase& x, const MaskCase& y) {
    return {x.mask | y.mask, [x, y](auto... at) { return x.sees(at...) || y.sees(at...); }};
  }
};

/// One head of one sequence.
inline kernels::AttentionShape shape_of(std::int64_t Tq, std::int64_t Tk) {
  return {.B = 1, .H = 1, .G = 1, .Tq = Tq, .Tk = Tk, .D = 1, .Dv = 1};
}

/// Checks a bound mask on one region: intervals contain all visible keys, and no others if they
/// claim to be exact; the cover and every byte are correct.
inline void check_region(const MaskCase& c, const kernels::Visibility& bound,
                         const kernels::Region& at) {
  const auto rows = static_cast<std::size_t>(at.rows);
  const std::int64_t stride = at.rows + 3;
  std::vector<std::int64_t> first(rows), last(rows);
  std::vector<std::uint8_t> seen(static_cast<std::size_t>(stride * at.cols + 1), 7);
  const bool exact = bound.intervals(at, first.data(), last.data());
  const kernels::Cover cover = bound.cover(at);
  bound.fill(at, seen.data(), stride);
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < at.rows; ++r) {
    const std::int64_t begin = first[static_cast<std::size_t>(r)];
    const std::int64_t end = last[static_cast<std::size_t>(r)];
    ASSERT_TRUE(at.col <= begin && begin <= end && end <= at.col + at.cols) << c.mask.name();
    for (std::int64_t k = 0; k < at.cols; ++k) {
      const bool expected = c.sees(at.batch, at.head, at.row + r, at.col + k);
      const bool inside = begin <= at.col + k && at.col + k < end;
      count += expected;
      ASSERT_EQ(seen[static_cast<std::size_t>(k * stride + r)], expected ? 1 : 0)
          << c.mask.name() << ": query " << at.row + r << ", key " << at.col + k;
      ASSERT_TRUE(inside || !expected) << c.mask.name() << ": hidden by its interval";
      ASSERT_TRUE(!exact || !inside || expected) << c.mask.name() << ": interval is not exact";
    }
  }
  EXPECT_EQ(seen.back(), 7) << c.mask.name() << ": wrote past the end";
  EXPECT_TRUE(cover != kernels::Cover::all || count == at.rows * at.cols) << c.mask.name();
  EXPECT_TRUE(cover != kernels::Cover::none || count == 0) << c.mask.name();
}

/// Checks every head as a whole and some random regions.
inline void check_mask(const MaskCase& c, const kernels::AttentionShape& shape) {
  const auto bound = c.mask.bind(shape);
  ASSERT_NE(bound, nullptr);
  const RandomStream random{5, 1};
  std::uint64_t draw = 0;
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(draw++, static_cast<std::uint32_t>(n)));
  };
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) {
      const std::int64_t queries = shape.queries(b), keys = shape.keys(b);
      check_region(c, *bound, {b, h, 0, queries, 0, keys});
      for (int i = 0; i < 8; ++i) {
        const std::int64_t row = below(queries), col = below(keys);
        check_region(
            c, *bound,
            {b, h, row, 1 + below(queries - row), col,
             i < 4 ? 1 + below(std::min<std::int64_t>(8, keys - col)) : 1 + below(keys - col)});
      }
    }
  }
}

/// Whether all rows of all heads are exact intervals.
inline bool is_exact(const Mask& mask, const kernels::AttentionShape& shape) {
  const auto bound = mask.bind(shape);
  for (std::int64_t b = 0; b < shape.B; ++b) {
    for (std::int64_t h = 0; h < shape.H; ++h) {
      const auto rows = static_cast<std::size_t>(shape.queries(b));
      std::vector<std::int64_t> first(rows), last(rows);
      if (!bound->intervals({b, h, 0, shape.queries(b), 0, shape.keys(b)}, first.data(),
                            last.data())) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace heed::test
