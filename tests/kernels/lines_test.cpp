// Lines along an axis: every line once, whole, with the offsets of all operands.
#include "heed/kernels/lines.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <vector>

namespace heed::kernels {
namespace {

TEST(Lines, EveryLineOnceOnEveryAxis) {
  for (const Shape& shape :
       {Shape{7}, Shape{3, 5}, Shape{2, 3, 4, 5}, Shape{1, 1}, Shape{3, 0, 2}, Shape{40, 3, 700}}) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Strides x = row_major(shape);
      Strides y = x;
      for (std::int64_t& stride : y) stride *= 2;
      const Lines<2> lines = make_lines<2>(shape, axis, {x, y});
      EXPECT_EQ(lines.length, shape[axis]);
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(numel(shape)));
      for_each_line(lines, 1, [&](const std::array<std::int64_t, 2>& at) {
        EXPECT_EQ(at[1], 2 * at[0]);
        for (std::int64_t k = 0; k < lines.length; ++k) {
          ++seen[static_cast<std::size_t>(at[0] + k * lines.steps[0])];
        }
      });
      for (const auto& count : seen) EXPECT_EQ(count, 1);
    }
  }
}

TEST(Lines, NeighboursComeInRuns) {
  // Columns of [2, 3, 4] along axis 1: four neighbours in each of the two planes.
  const Lines<1> lines = make_lines<1>({2, 3, 4}, 1, {Strides{12, 4, 1}});
  EXPECT_EQ(lines.steps[0], 4);
  EXPECT_EQ(lines.across[0], 1);
  std::set<std::int64_t> starts;
  for_each_line_run(lines, 1, [&](const auto& run) {
    EXPECT_EQ(run.length, 4);
    starts.insert(run.at[0]);
  });
  EXPECT_EQ(starts, (std::set<std::int64_t>{0, 12}));
}

}  // namespace
}  // namespace heed::kernels
