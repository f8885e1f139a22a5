#include "heed/plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/plot/table.h"

namespace heed::plot {
namespace {

constexpr double kSmall = 10.5;
constexpr double kLeft = 62.0, kRight = 12.0, kTop = 26.0, kBottom = 38.0;
constexpr double kAxisMargin = 0.04;  // of an axis, before the first and after the last point
constexpr int kMostMarks = 8;
// Sizes of a legend: height of a line, the sample before a name, an average letter, the gap between
// names.
constexpr double kLegendLine = 17.0, kSample = 32.0, kLegendLetter = 6.2, kLegendGap = 18.0;
constexpr double kDot = 3.0;

// One axis: maps values to pixels, and holds its marks.
struct Scale {
  bool linear;
  double low, high;              // the ends, in the coordinates of place()
  double begin = 0, extent = 0;  // pixels; a negative extent goes up
  std::vector<double> marks = {};

  double place(double value) const { return linear ? value : std::log(value); }
  double at(double value) const { return begin + (place(value) - low) / (high - low) * extent; }
  bool shows(double value) const {
    const double slack = 1e-9 * (high - low);
    return place(value) >= low - slack && place(value) <= high + slack;
  }
};

// Marks at multiples of 1, 2 or 5 times a power of ten.
void mark_evenly(Scale& scale) {
  const double rough = (scale.high - scale.low) / (kMostMarks - 1);
  double step = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (step < rough) step *= factor;
  }
  const double first = std::ceil(scale.low / step - 1e-9);
  for (double i = first; scale.shows(i * step); ++i) {
    scale.marks.push_back(i * step + 0.0);  // adding 0.0 avoids "-0"
  }
}

// Marks at powers of two, skipping some if there are too many.
void mark_doublings(Scale& scale) {
  const double first = std::ceil(scale.low / std::log(2.0) - 1e-9);
  const double last = std::floor(scale.high / std::log(2.0) + 1e-9);
  const double step = std::max(1.0, std::ceil((last - first + 1) / kMostMarks));
  for (double e = first; e <= last; e += step) scale.marks.push_back(std::exp2(e));
}

// Marks at powers of ten, and at 2 and 5 between them if there are few.
void mark_decades(Scale& scale) {
  const double decades = (scale.high - scale.low) / std::log(10.0);
  const double first = std::floor(scale.low / std::log(10.0)), last = scale.high / std::log(10.0);
  const double step = std::max(1.0, std::ceil(decades / kMostMarks));
  for (double e = first; e <= last; e += step) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double mark = digit * std::pow(10.0, e);
      if (digit > 1.0 && decades > 2.6) continue;
      if (scale.shows(mark)) scale.marks.push_back(mark);
    }
  }
}

Scale scale_of(const Chart& chart, double Point::*coordinate, const Axis& axis) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Scale scale{.linear = axis.linear, .low = kInfinity, .high = -kInfinity};
  for (const Series& series : chart.series) {
    for (const Point& p : series.points) {
      const double value = p.*coordinate;
      HEED_CHECK(std::isfinite(value), "[chart] {} has a point at {}", series.name, value);
      HEED_CHECK(axis.linear || value > 0.0,
                 "[chart] {} has a point at {}: a logarithmic axis needs positive numbers",
                 series.name, value);
      scale.low = std::min(scale.low, scale.place(value));
      scale.high = std::max(scale.high, scale.place(value));
    }
  }
  HEED_CHECK(scale.low <= scale.high, "[chart] {} has no points", chart.title);
  HEED_CHECK(std::isfinite(scale.high - scale.low),
             "[chart] {} goes from {} to {}: the distance is too large to draw", chart.title,
             scale.low, scale.high);
  // A chart of a single value has room around it too.
  const double least = axis.linear ? 0.01 * std::max(std::abs(scale.high), 1e-9) : 0.1;
  const double room = std::max(kAxisMargin * (scale.high - scale.low), least);
  scale.low -= room;
  scale.high += room;
  if (axis.linear) {
    mark_evenly(scale);
  } else {
    axis.doubling ? mark_doublings(scale) : mark_decades(scale);
  }
  return scale;
}

void draw_axes(Svg& svg, const Chart& chart, const Box& plot, const Scale& x, const Scale& y) {
  const double bottom = plot.y + plot.height, right = plot.x + plot.width;
  const Stroke grid{.color = "#e6e6e6"};
  for (const double mark : x.marks) {
    const double at = x.at(mark);
    svg.line({at, plot.y}, {at, bottom}, grid);
    svg.text({at, bottom + 14.0}, with_prefix(mark, chart.x.unit),
             {.size = kSmall, .anchor = "middle"});
  }
  for (const double mark : y.marks) {
    const double at = y.at(mark);
    svg.line({plot.x, at}, {right, at}, grid);
    svg.text({plot.x - 6.0, at + 3.5}, with_prefix(mark, chart.y.unit),
             {.size = kSmall, .anchor = "end"});
  }
  svg.frame(plot, {.color = "#999999"});
  svg.text({plot.x + plot.width / 2, bottom + 31.0}, chart.x.label,
           {.size = kSmall + 0.5, .anchor = "middle"});
  if (chart.y.label.empty()) return;
  const Point side{plot.x - kLeft + 12.0, plot.y + plot.height / 2};
  svg.text(side, chart.y.label, {.size = kSmall + 0.5, .anchor = "middle", .turn = -90.0});
}

// More dots would touch each other.
constexpr std::size_t kMostDots = 40;

bool has_dots(const Series& series) {
  return series.dots && !series.dashed && series.points.size() <= kMostDots;
}

Stroke stroke_of(const Series& series) {
  const double width = series.dashed || !series.dots ? 1.5 : 2.0;
  return {.color = series.color, .width = width, .dashes = series.dashed ? "5 4" : ""};
}

// Earlier lines are wider, so that lines that coincide are all visible.
void draw_series(Svg& svg, const Series& series, const Scale& x, const Scale& y, double emphasis) {
  std::vector<Point> points;
  for (const Point& p : series.points) points.push_back({x.at(p.x), y.at(p.y)});
  svg.begin_group(series.name);
  Stroke stroke = stroke_of(series);
  if (series.dots) stroke.width *= emphasis;
  svg.path(points, stroke);
  if (has_dots(series)) {
    for (const Point& p : points) svg.dot(p, kDot * emphasis, series.color);
  }
  svg.end_group();
}

Box legend_room(const std::vector<Series>& series, Point at, Flow flow) {
  Box room{at.x, at.y, 0.0, 0.0};
  for (const Series& each : series) {
    const double width = kSample + kLegendLetter * static_cast<double>(characters(each.name));
    if (flow == Flow::right) {
      room.width += width + (room.width > 0.0 ? kLegendGap : 0.0);
      room.height = kLegendLine;
    } else {
      room.width = std::max(room.width, width);
      room.height += kLegendLine;
    }
  }
  return room;
}

// Points along all lines of a chart, dense enough to find out what a box would hide.
std::vector<Point> trace(const Chart& chart, const Scale& x, const Scale& y) {
  constexpr int kParts = 16;
  std::vector<Point> all;
  for (const Series& series : chart.series) {
    for (std::size_t i = 0; i + 1 < series.points.size(); ++i) {
      const Point from{x.at(series.points[i].x), y.at(series.points[i].y)};
      const Point to{x.at(series.points[i + 1].x), y.at(series.points[i + 1].y)};
      for (int part = 0; part <= kParts; ++part) {
        const double share = static_cast<double>(part) / kParts;
        all.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
      }
    }
  }
  return all;
}

// Draws the legend in the corner where it hides the least.
void draw_inner_legend(Svg& svg, const Chart& chart, const Box& plot,
                       const std::vector<Point>& trace) {
  constexpr double kGap = 7.0;
  const Box room = legend_room(chart.series, {}, Flow::down);
  const double left = plot.x + kGap, right = plot.x + plot.width - room.width - kGap;
  const double top = plot.y + kGap, bottom = plot.y + plot.height - room.height - kGap;
  const auto hidden = [&](Point corner) {
    return std::count_if(trace.begin(), trace.end(), [&](Point p) {
      return p.x > corner.x - kGap && p.x < corner.x + room.width + kGap && p.y > corner.y - kGap &&
             p.y < corner.y + room.height + kGap;
    });
  };
  const Point corners[] = {{left, top}, {right, bottom}, {right, top}, {left, bottom}};
  const Point best = *std::min_element(std::begin(corners), std::end(corners),
                                       [&](Point a, Point b) { return hidden(a) < hidden(b); });
  svg.box({best.x, best.y, room.width, room.height}, "#ffffff");
  draw_legend(svg, chart.series, best, Flow::down);
}

}  // namespace

std::string with_prefix(double value, const std::string& unit) {
  struct Prefix {
    double factor;
    const char* sign;
  };
  constexpr Prefix kPrefixes[] = {{1e12, "T"}, {1e9, "G"},  {1e6, "M"}, {1e3, "k"},
                                  {1.0, ""},   {1e-3, "m"}, {1e-6, "µ"}};
  if (!std::isfinite(value)) return fmt::to_string(value);
  if (value < 0.0) return "−" + with_prefix(-value, unit);
  // Short numbers without a unit have no prefix: 4096, not 4.1 k.
  const bool is_short = unit.empty() && value >= 0.1 && value < 1e4;
  if (is_short || value == 0.0) return fmt::format("{:.4g}", value);
  for (const auto& [factor, sign] : kPrefixes) {
    if (value < factor * 0.9995) continue;
    const std::string number = fmt::format("{:.3g}", value / factor);
    return *sign == '\0' && unit.empty() ? number : fmt::format("{} {}{}", number, sign, unit);
  }
  return fmt::format("{:.3g} n{}", value * 1e9, unit);
}

void draw_chart(Svg& svg, const Chart& chart, const Box& box) {
  Scale x = scale_of(chart, &Point::x, chart.x), y = scale_of(chart, &Point::y, chart.y);
  const Box plot{box.x + kLeft, box.y + kTop, box.width - kLeft - kRight,
                 box.height - kTop - kBottom};
  HEED_CHECK(plot.width > 0.0 && plot.height > 0.0,
             "[chart] {} by {} pixels leave no room for lines: give more than {} by {}", box.width,
             box.height, kLeft + kRight, kTop + kBottom);
  x.begin = plot.x;
  x.extent = plot.width;
  y.begin = plot.y + plot.height;
  y.extent = -plot.height;
  svg.text({plot.x, box.y + 16.0}, chart.title, {.size = 12.5, .bold = true});
  draw_axes(svg, chart, plot, x, y);
  double emphasis = 1.6;
  for (const Series& series : chart.series) {
    draw_series(svg, series, x, y, emphasis);
    emphasis = std::max(emphasis - 0.25, 0.8);
  }
  if (chart.legend) draw_inner_legend(svg, chart, plot, trace(chart, x, y));
}

Box draw_legend(Svg& svg, const std::vector<Series>& series, Point at, Flow flow) {
  Point corner = at;
  for (const Series& each : series) {
    const double y = corner.y + kLegendLine / 2;
    svg.line({corner.x, y}, {corner.x + kSample - 6.0, y}, stroke_of(each));
    if (has_dots(each)) svg.dot({corner.x + kSample / 2 - 3.0, y}, kDot, each.color);
    svg.text({corner.x + kSample, y + 4.0}, each.name, {.size = 11.5});
    if (flow == Flow::right) {
      corner.x += kSample + kLegendLetter * static_cast<double>(characters(each.name)) + kLegendGap;
    } else {
      corner.y += kLegendLine;
    }
  }
  return legend_room(series, at, flow);
}

std::string chart_svg(const Chart& chart, double width, double height) {
  Svg svg(width, height, chart.title);
  draw_chart(svg, chart, {0.0, 4.0, width, height - 4.0});
  return svg.finish();
}

}  // namespace heed::plot
