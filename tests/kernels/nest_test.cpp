// Loops over strided operands: merging of axes, offsets, and every element visited once.
#include "heed/kernels/nest.h"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

namespace heed::kernels::nest_test {
namespace {

TEST(MakeNest, MergesAxesThatAreContiguousInEveryOperand) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(make_nest<1>(shape, {Strides{12, 4, 1}}).rank, 1);
  EXPECT_EQ(make_nest<1>(shape, {Strides{12, 4, 1}}).sizes[0], 24);
  // One operand with gaps between its rows stops the merge there, for both.
  const auto gaps = make_nest<2>(shape, {Strides{12, 4, 1}, Strides{15, 5, 1}});
  EXPECT_EQ(gaps.rank, 2);
  EXPECT_EQ(gaps.sizes[0], 6);
  EXPECT_EQ(gaps.sizes[1], 4);
  EXPECT_EQ(gaps.strides[0][0], 4);
  EXPECT_EQ(gaps.strides[1][0], 5);
  // Transposed: nothing to merge.
  EXPECT_EQ(make_nest<1>(shape, {Strides{1, 2, 6}}).rank, 3);
  // Broadcast along all axes is one axis of stride 0.
  EXPECT_EQ(make_nest<1>(shape, {Strides{0, 0, 0}}).rank, 1);
}

TEST(MakeNest, LeavesOutAxesOfSizeOne) {
  const auto nest = make_nest<1>({1, 5, 1, 3, 1}, {Strides{77, 3, 99, 1, 42}});
  EXPECT_EQ(nest.rank, 1);
  EXPECT_EQ(nest.count(), 15);
  EXPECT_EQ(nest.strides[0][0], 1);
}

TEST(MakeNest, AScalarIsOneRunOfOne) {
  for (const Shape& shape : {Shape{}, Shape{1, 1}}) {
    const auto nest = make_nest<1>(shape, {Dims::filled(shape.rank(), 9)});
    EXPECT_EQ(nest.rank, 1);
    EXPECT_EQ(nest.count(), 1);
  }
}

struct Layout {
  Shape shape;
  Strides a, b;
};
const Layout kLayouts[] = {
    {{}, {}, {}},
    {{1}, {1}, {0}},
    {{7}, {1}, {-2}},
    {{3, 5}, {5, 1}, {1, 3}},
    {{3, 5, 7}, {35, 7, 1}, {0, 7, 0}},
    {{2, 3, 4, 5}, {1, 2, 6, 24}, {60, 20, 5, 1}},
    {{0}, {1}, {1}},
    {{3, 0, 2}, {0, 2, 1}, {0, 2, 1}},
    {{63, 65}, {65, 1}, {1, 63}},
    {{40'000}, {1}, {2}},                // longer than a cell
    {{3, 40'001}, {40'001, 1}, {0, 1}},  // several pieces a run
    {{20'000, 3}, {3, 1}, {4, 1}},       // many runs a cell
};

// The offsets of every element, in row-major order, by the definition.
std::vector<std::array<std::int64_t, 2>> expected_offsets(const Layout& l) {
  std::vector<std::array<std::int64_t, 2>> all;
  for (std::int64_t i = 0; i < numel(l.shape); ++i) {
    std::array<std::int64_t, 2> at{};
    std::int64_t rest = i;
    for (int axis = l.shape.rank() - 1; axis >= 0; --axis) {
      at[0] += rest % l.shape[axis] * l.a[axis];
      at[1] += rest % l.shape[axis] * l.b[axis];
      rest /= l.shape[axis];
    }
    all.push_back(at);
  }
  return all;
}

TEST(Nest, OffsetsOfEveryElement) {
  for (const Layout& l : kLayouts) {
    const auto nest = make_nest<2>(l.shape, {l.a, l.b});
    const auto expected = expected_offsets(l);
    ASSERT_EQ(nest.count(), static_cast<std::int64_t>(expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(nest.at(static_cast<std::int64_t>(i)), expected[i]);
    }
  }
}

std::multiset<std::array<std::int64_t, 2>> visited(const Layout& l, std::int64_t cell_elements) {
  const auto nest = make_nest<2>(l.shape, {l.a, l.b});
  const auto inner = static_cast<std::size_t>(nest.rank - 1);
  std::mutex mutex;
  std::multiset<std::array<std::int64_t, 2>> seen;
  for_each_run(
      nest, 100,
      [&](const auto& run) {
        const std::lock_guard lock(mutex);
        for (std::int64_t i = 0; i < run.length; ++i) {
          seen.insert(
              {run.at[0] + i * nest.strides[0][inner], run.at[1] + i * nest.strides[1][inner]});
        }
      },
      cell_elements);
  return seen;
}

TEST(ForEachRun, VisitsEveryElementOnceWhateverTheCells) {
  for (const Layout& l : kLayouts) {
    const auto all = expected_offsets(l);
    const std::multiset<std::array<std::int64_t, 2>> expected(all.begin(), all.end());
    for (const std::int64_t cell : {std::int64_t{1}, std::int64_t{7}, detail::kCellElements}) {
      if (cell < 7 && all.size() > 10'000) continue;
      EXPECT_EQ(visited(l, cell), expected) << to_string(l.shape) << " in cells of " << cell;
    }
  }
}

TEST(ForEachRun, TheSplitDoesNotDependOnTheThreads) {
  const auto nest = make_nest<1>({5, 50'001}, {Strides{50'001, 1}});
  const auto split = [&](int threads) {
    set_num_threads(threads);
    std::mutex mutex;
    std::set<std::pair<std::int64_t, std::int64_t>> runs;
    for_each_run(nest, 100, [&](const auto& run) {
      const std::lock_guard lock(mutex);
      runs.emplace(run.at[0], run.length);
    });
    return runs;
  };
  const int before = num_threads();
  const auto one = split(1);
  EXPECT_GT(one.size(), 5u);
  EXPECT_EQ(split(2), one);
  EXPECT_EQ(split(3), one);
  set_num_threads(before);
}

}  // namespace
}  // namespace heed::kernels::nest_test
