// Generated sets: hulls compared with a search over all pairs of points, orders, and areas.
#include "heed/data/element_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/error_message.h"

namespace heed::element_tasks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

double side(const ElementSet& set, std::int32_t a, std::int32_t b, std::int32_t c) {
  const auto x = [&](std::int32_t i) {
    return double{set.numbers[static_cast<std::size_t>(2 * i - 2)]};
  };
  const auto y = [&](std::int32_t i) {
    return double{set.numbers[static_cast<std::size_t>(2 * i - 1)]};
  };
  return (x(b) - x(a)) * (y(c) - y(a)) - (y(b) - y(a)) * (x(c) - x(a));
}

// An edge of the hull has all points on its left.
TEST(ElementTasks, HullsHaveAllPointsOnTheLeft) {
  for (std::int64_t number = 0; number < 200; ++number) {
    const ElementSet set = make_element_set({.min_elements = 3, .max_elements = 17}, number);
    const auto n = static_cast<std::int32_t>(set.numbers.size() / 2);
    ASSERT_GE(n, 3);
    ASSERT_LE(n, 17);
    ASSERT_GE(set.pointed.size(), 3u);
    EXPECT_EQ(set.pointed[0], *std::ranges::min_element(set.pointed));
    std::set<std::int32_t> corners(set.pointed.begin(), set.pointed.end());
    EXPECT_EQ(corners.size(), set.pointed.size());
    for (std::size_t i = 0; i < set.pointed.size(); ++i) {
      const std::int32_t a = set.pointed[i], b = set.pointed[(i + 1) % set.pointed.size()];
      for (std::int32_t c = 1; c <= n; ++c) {
        if (c == a || c == b) continue;
        EXPECT_GT(side(set, a, b, c), 0.0) << number;
      }
    }
  }
}

TEST(ElementTasks, NumbersAreSorted) {
  std::set<std::size_t> sizes;
  for (std::int64_t number = 0; number < 100; ++number) {
    const ElementSet set =
        make_element_set({.task = ElementTask::sort, .min_elements = 1, .max_elements = 7}, number);
    sizes.insert(set.numbers.size());
    ASSERT_EQ(set.pointed.size(), set.numbers.size());
    for (std::size_t i = 1; i < set.pointed.size(); ++i) {
      EXPECT_LE(set.numbers[static_cast<std::size_t>(set.pointed[i - 1] - 1)],
                set.numbers[static_cast<std::size_t>(set.pointed[i] - 1)]);
    }
  }
  EXPECT_THAT(sizes, ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST(ElementTasks, SetsDependOnSeedAndNumberAlone) {
  const auto line = [](std::uint64_t seed, std::int64_t number) {
    return elements_line(make_element_set({.seed = seed}, number));
  };
  EXPECT_EQ(line(1, 5), line(1, 5));
  EXPECT_NE(line(1, 5), line(1, 6));
  EXPECT_NE(line(1, 5), line(2, 5));
  ElementSet read;
  ASSERT_FALSE(parse_elements(line(1, 5), {}, read));
  EXPECT_EQ(read.numbers, make_element_set({.seed = 1}, 5).numbers) << "files hold them exactly";
}

TEST(ElementTasks, SizesMustMakeSense) {
  EXPECT_THAT(error_message([] { make_element_set({.min_elements = 2}, 0); }),
              HasSubstr("at least 3"));
  EXPECT_THAT(error_message([] { make_element_set({.min_elements = 6, .max_elements = 5}, 0); }),
              HasSubstr("6 to 5"));
}

TEST(ElementTasks, AreasAreCompared) {
  // A square with a point inside.
  const std::vector<float> points = {0, 0, 1, 0, 1, 1, 0, 1, 0.5f, 0.25f};
  const std::vector<std::int32_t> right = {1, 2, 3, 4};
  const auto area = [&](std::vector<std::int32_t> corners) {
    return covered_area(points, corners, right);
  };
  EXPECT_EQ(area({1, 2, 3, 4}), 1.0);
  EXPECT_EQ(area({4, 3, 2, 1}), 1.0);
  EXPECT_EQ(area({1, 2, 3}), 0.5);
  EXPECT_EQ(area({1, 5, 2, 3, 4}), 0.875);
  EXPECT_EQ(area({1, 3, 2, 4}), 0.0) << "crosses itself";
  EXPECT_EQ(area({1, 2}), 0.0);
  EXPECT_EQ(area({}), 0.0);
}

}  // namespace
}  // namespace heed::element_tasks_test
