// Sets of elements whose right positions are known: the convex hull of points (Vinyals et al. 2015)
// and sorting. Coordinates are multiples of 1e-6, so that files hold them exactly and hulls are
// computed without rounding.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "heed/data/element_sets.h"
#include "heed/io/codec.h"

namespace heed {

enum class ElementTask : std::uint8_t { hull, sort };

/// The names that the program uses.
constexpr std::array<io::EnumName<ElementTask>, 2> enum_names(ElementTask) {
  return {{{ElementTask::hull, "hull"}, {ElementTask::sort, "sort"}}};
}

struct ElementTaskOptions {
  ElementTask task = ElementTask::hull;
  std::int64_t min_elements = 5;
  std::int64_t max_elements = 10;
  std::uint64_t seed = 1;
};

/// Makes one set, which depends only on options and number. Coordinates are uniform in [0, 1), and
/// all numbers of elements have the same probability.
///   hull: points of two numbers; the corners of the convex hull counter-clockwise, beginning with
///         the one that comes first in the set.
///   sort: numbers; their positions from the smallest to the greatest.
ElementSet make_element_set(const ElementTaskOptions& options, std::int64_t number);

/// The share of the area of a hull that a polygon of points [T, 2] covers, from 0 to 1; `corners`
/// and `right` are positions from 1. A polygon that crosses itself covers nothing.
double covered_area(std::span<const float> points, std::span<const std::int32_t> corners,
                    std::span<const std::int32_t> right);

}  // namespace heed
