// Line charts. Axes are logarithmic unless told: there a power law is a straight line and its
// exponent the slope.
#pragma once

#include <string>
#include <vector>

#include "heed/plot/svg.h"

namespace heed::plot {

struct Series {
  std::string name;
  std::vector<Point> points;  ///< From left to right; positive where the axis is logarithmic.
  std::string color;
  bool dashed = false;  ///< Dashed and without dots: what is calculated rather than measured.
  bool dots = true;     ///< A dot at each point, if there is room for them.
};

struct Axis {
  std::string label = {};
  std::string unit = {};  ///< Behind the numbers, with the prefixes of the SI: "s", "B".
  bool doubling = false;  ///< Marks at 1, 2, 4, 8, …; else at 1, 10, 100, ….
  bool linear = false;    ///< Not logarithmic; marks at round numbers.
};

struct Chart {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Series> series;
  bool legend = false;  ///< Names the lines within the chart.
};

/// Fills the box, labels of the axes included.
void draw_chart(Svg& svg, const Chart& chart, const Box& box);

/// The names of lines, from left to right, or one below another; returns the room they took.
enum class Flow : std::uint8_t { right, down };
Box draw_legend(Svg& svg, const std::vector<Series>& series, Point at, Flow flow);

/// One chart as a picture of its own.
std::string chart_svg(const Chart& chart, double width = 420.0, double height = 300.0);

/// A number as on an axis: three digits and the prefix of the SI: "1.5 ms", "20 k", "512".
std::string with_prefix(double value, const std::string& unit);

}  // namespace heed::plot
