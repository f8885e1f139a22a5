// Indexed reads and additions in any layout, and the check of indices.
#include "heed/kernels/index.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace heed::kernels::index_test {
namespace {

TEST(FirstOutside, FindsTheLowestPositionInALongList) {
  std::vector<std::int64_t> index(100'000, 6);
  EXPECT_EQ(first_outside(index.data(), 100'000, 7), -1);
  EXPECT_EQ(first_outside(index.data(), 100'000, 6), 0);
  index[99'999] = 7;
  EXPECT_EQ(first_outside(index.data(), 100'000, 7), 99'999);
  index[70'001] = -1;
  index[70'002] = 9;
  EXPECT_EQ(first_outside(index.data(), 100'000, 7), 70'001);
  EXPECT_EQ(first_outside(index.data(), 0, 0), -1);
  const std::int32_t words[] = {0, 2, -2'000'000'000};
  EXPECT_EQ(first_outside(words, 3, 3), 2);
}

// Strides that belong to no contiguous tensor.
struct Layout {
  Shape index_shape;
  Strides x, index, y;
};
const Layout kLayouts[] = {
    {{4, 5}, {9, 1}, {5, 1}, {5, 1}},
    {{4, 5}, {1, 4}, {1, 4}, {5, 1}},
    {{4, 5}, {20, 2}, {15, 3}, {1, 7}},
    {{3, 1}, {5, 1}, {1, 1}, {2, 1}},
};

TEST(GatherKernel, AnyLayoutAndElementSize) {
  for (const Layout& l : kLayouts) {
    for (const int axis : {0, 1}) {
      std::vector<std::int32_t> index(100);
      for (std::size_t i = 0; i < index.size(); ++i) {
        index[i] = static_cast<std::int32_t>(i * i % 3);
      }
      const Lines<3> lines = make_lines<3>(l.index_shape, axis, {l.x, l.index, l.y});
      const auto check = [&](auto zero) {
        using T = decltype(zero);
        std::vector<T> x(100), y(100, T{0});
        std::iota(x.begin(), x.end(), T{1});
        gather(lines, sizeof(T), x.data(), index.data(), y.data());
        for (std::int64_t i = 0; i < l.index_shape[0]; ++i) {
          for (std::int64_t j = 0; j < l.index_shape[1]; ++j) {
            const auto chosen = index[static_cast<std::size_t>(i * l.index[0] + j * l.index[1])];
            const auto from =
                axis == 0 ? chosen * l.x[0] + j * l.x[1] : i * l.x[0] + chosen * l.x[1];
            EXPECT_EQ(y[static_cast<std::size_t>(i * l.y[0] + j * l.y[1])],
                      x[static_cast<std::size_t>(from)]);
          }
        }
      };
      check(std::uint8_t{});
      check(std::uint16_t{});
      check(std::uint32_t{});
      check(std::uint64_t{});
    }
  }
}

TEST(ScatterAddKernel, AddsInTheOrderOfTheLine) {
  // 1 + 2^-24 + 2^-24 rounds to 1, (2^-24 + 2^-24) + 1 does not: the order shows in the bits.
  const float tiny = 0x1p-24f;
  const float x[] = {1.0f, tiny, tiny, tiny, tiny, 1.0f};  // both as [2, 3] and as its transpose
  const std::int64_t index[] = {1, 1, 1, 1, 1, 1};
  for (const bool along : {true, false}) {
    float y[4] = {};
    const Strides in = along ? Strides{3, 1} : Strides{1, 2};
    scatter_add(make_lines<3>({2, 3}, 1, {in, in, Strides{2, 1}}), x, index, y);
    EXPECT_EQ(std::vector(y, y + 4), (std::vector{0.0f, 1.0f, 0.0f, 1.0f + 2 * tiny}));
  }
}

TEST(Rows, TakenAndAdded) {
  for (const RowsShape s : {RowsShape{1, 5, 7, 3}, RowsShape{4, 3, 9, 1}, RowsShape{2, 6, 500, 130},
                            RowsShape{2, 3, 0, 5}, RowsShape{0, 3, 2, 5}, RowsShape{2, 3, 4, 0}}) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(s.count));
    for (std::size_t j = 0; j < ids.size(); ++j) {
      ids[j] = static_cast<std::int64_t>(j * 5 + 2) % s.size;
    }
    std::vector<double> x(static_cast<std::size_t>(s.outer * s.size * s.inner));
    std::iota(x.begin(), x.end(), 1.0);
    std::vector<double> y(static_cast<std::size_t>(s.outer * s.count * s.inner), -1.0);
    take_rows(s, sizeof(double), x.data(), ids.data(), y.data());
    std::vector<double> sums(x.size(), 0.5), expected = sums;
    const std::int64_t skip = 1;
    for (std::int64_t o = 0; o < s.outer; ++o) {
      for (std::int64_t j = 0; j < s.count; ++j) {
        const std::int64_t id = ids[static_cast<std::size_t>(j)];
        for (std::int64_t c = 0; c < s.inner; ++c) {
          const auto at_x = static_cast<std::size_t>((o * s.size + id) * s.inner + c);
          const auto at_y = static_cast<std::size_t>((o * s.count + j) * s.inner + c);
          EXPECT_EQ(y[at_y], x[at_x]);
          if (id != skip) expected[at_x] += y[at_y];
        }
      }
    }
    add_rows(s, y.data(), ids.data(), skip, sums.data());
    EXPECT_EQ(sums, expected);
  }
}

}  // namespace
}  // namespace heed::kernels::index_test
