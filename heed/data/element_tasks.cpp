#include "heed/data/element_tasks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "heed/base/error.h"
#include "heed/data/shuffle.h"

namespace heed {
namespace {

constexpr std::uint32_t kGrid = 1'000'000;

struct GridPoint {
  std::int64_t x = 0, y = 0;
};

// Twice the area of a triangle; positive if its corners go counter-clockwise.
std::int64_t turn(const GridPoint& a, const GridPoint& b, const GridPoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Indices of the corners, counter-clockwise (Andrew 1979).
std::vector<std::int32_t> hull_of(const std::vector<GridPoint>& points) {
  std::vector<std::int32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto at = [&](std::int32_t i) { return points[static_cast<std::size_t>(i)]; };
  std::ranges::sort(order, {}, [&](std::int32_t i) { return std::tuple(at(i).x, at(i).y, i); });
  std::vector<std::int32_t> hull;
  const auto walk = [&](const auto& indices) {
    const std::size_t base = hull.size();
    for (const std::int32_t i : indices) {
      while (hull.size() >= base + 2 &&
             turn(at(hull[hull.size() - 2]), at(hull.back()), at(i)) <= 0) {
        hull.pop_back();
      }
      hull.push_back(i);
    }
    hull.pop_back();  // the first of the other half
  };
  walk(order);
  std::ranges::reverse(order);
  walk(order);
  return hull;
}

// Twice the signed area of a polygon.
double area_of(std::span<const GridPoint> corners) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const GridPoint& a = corners[i];
    const GridPoint& b = corners[(i + 1) % corners.size()];
    sum += a.x * b.y - b.x * a.y;
  }
  return static_cast<double>(sum);
}

bool is_crossed(std::span<const GridPoint> corners) {
  const std::size_t n = corners.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = i + 2; k < n; ++k) {
      if (i == 0 && k + 1 == n) continue;  // neighbours
      const GridPoint &a = corners[i], &b = corners[i + 1];
      const GridPoint &c = corners[k], &d = corners[(k + 1) % n];
      if ((turn(a, b, c) > 0) != (turn(a, b, d) > 0) && (turn(c, d, a) > 0) != (turn(c, d, b) > 0))
        return true;
    }
  }
  return false;
}

std::vector<GridPoint> corners_of(std::span<const float> points,
                                  std::span<const std::int32_t> positions) {
  std::vector<GridPoint> corners;
  for (const std::int32_t position : positions) {
    const auto i = static_cast<std::size_t>(2 * (position - 1));
    corners.push_back({std::llround(points[i] * kGrid), std::llround(points[i + 1] * kGrid)});
  }
  return corners;
}

std::vector<std::int32_t> sorted(const std::vector<std::uint32_t>& values) {
  std::vector<std::int32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::int32_t i) { return values[static_cast<std::size_t>(i)]; });
  return order;
}

}  // namespace

ElementSet make_element_set(const ElementTaskOptions& options, std::int64_t number) {
  const bool is_hull = options.task == ElementTask::hull;
  HEED_CHECK(
      options.min_elements >= (is_hull ? 3 : 1) && options.max_elements >= options.min_elements,
      "[corpus] sets of {} to {} elements: there must be at least {}, and the first number "
      "is the smaller one",
      options.min_elements, options.max_elements, is_hull ? 3 : 1);
  const RandomStream random = data_stream(options.seed, DataPurpose::elements, number);
  const auto choices = static_cast<std::uint32_t>(options.max_elements - options.min_elements + 1);
  const std::int64_t n = options.min_elements + random.below(0, choices);
  std::vector<std::uint32_t> values(static_cast<std::size_t>(is_hull ? 2 * n : n));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.below(i + 1, kGrid);
  ElementSet set{.numbers = {}, .pointed = {}, .has_output = true};
  for (const std::uint32_t value : values) {
    set.numbers.push_back(static_cast<float>(value) / static_cast<float>(kGrid));
  }
  if (is_hull) {
    std::vector<GridPoint> points;
    for (std::size_t i = 0; i < values.size(); i += 2) points.push_back({values[i], values[i + 1]});
    set.pointed = hull_of(points);
    std::ranges::rotate(set.pointed, std::ranges::min_element(set.pointed));
  } else {
    set.pointed = sorted(values);
  }
  for (std::int32_t& position : set.pointed) ++position;
  return set;
}

double covered_area(std::span<const float> points, std::span<const std::int32_t> corners,
                    std::span<const std::int32_t> right) {
  const std::vector<GridPoint> found = corners_of(points, corners);
  const std::vector<GridPoint> hull = corners_of(points, right);
  const double whole = std::abs(area_of(hull));
  if (found.size() < 3 || whole == 0.0 || is_crossed(found)) return 0.0;
  return std::min(1.0, std::abs(area_of(found)) / whole);
}

}  // namespace heed
