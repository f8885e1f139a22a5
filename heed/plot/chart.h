// Line charts. Axes are logarithmic by default: a power law is then a straight line whose slope is
// the exponent.
#pragma once

#include <string>
#include <vector>

#include "heed/plot/svg.h"

namespace heed::plot {

/// One line of a chart.
struct Series {
  std::string name;
  std::vector<Point> points;  ///< From left to right; positive on logarithmic axes.
  std::string color;
  bool dashed = false;  ///< Dashed and without dots, for calculated values.
  bool dots = true;     ///< A dot at each point, if there is room.
};

/// One axis of a chart.
struct Axis {
  std::string label = {};
  std::string unit = {};  ///< After the numbers, with SI prefixes: "s", "B".
  bool doubling = false;  ///< Marks at 1, 2, 4, 8, …; else at 1, 10, 100, ….
  bool linear = false;    ///< Linear, with marks at round numbers.
};

/// A line chart.
struct Chart {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<Series> series;
  bool legend = false;  ///< Draw a legend inside the chart.
};

/// Draws a chart that fills the box, including the labels of the axes.
void draw_chart(Svg& svg, const Chart& chart, const Box& box);

/// The direction of a legend.
enum class Flow : std::uint8_t { right, down };
/// Draws the names of lines and returns the box that they fill.
Box draw_legend(Svg& svg, const std::vector<Series>& series, Point at, Flow flow);

/// One chart as a picture.
std::string chart_svg(const Chart& chart, double width = 420.0, double height = 300.0);

/// A number as on an axis, with three digits and an SI prefix: "1.5 ms", "20 k", "512".
std::string with_prefix(double value, const std::string& unit);

}  // namespace heed::plot
