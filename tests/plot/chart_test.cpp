#include "heed/plot/chart.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>

#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;
using testing::Not;

Series powers(const std::string& name, double exponent, const std::string& color) {
  Series series{.name = name, .points = {}, .color = color};
  for (const double x : {128.0, 256.0, 512.0, 1024.0}) {
    series.points.push_back({x, 1e-6 * std::pow(x, exponent)});
  }
  return series;
}

// The points of a line of that color, in pixels.
std::vector<Point> line_of(const std::string& svg, const std::string& color) {
  const std::regex line("points=\"([^\"]*)\" stroke=\"" + color + "\"");
  std::smatch match;
  std::vector<Point> points;
  if (!std::regex_search(svg, match, line)) return points;
  std::istringstream text(match[1].str());
  for (Point p; text >> p.x && text.ignore(1) && text >> p.y;) points.push_back(p);
  return points;
}

TEST(Chart, APowerLawIsAStraightLine) {
  const Chart chart{.title = "time",
                    .x = {.label = "n", .doubling = true},
                    .y = {.unit = "s"},
                    .series = {powers("two", 2.0, "#aa0000"), powers("one", 1.0, "#00aa00")}};
  const std::string svg = chart_svg(chart);
  const auto two = line_of(svg, "#aa0000"), one = line_of(svg, "#00aa00");
  ASSERT_EQ(two.size(), 4u);
  ASSERT_EQ(one.size(), 4u);
  const auto rise = [](const std::vector<Point>& p, std::size_t i) { return p[i].y - p[i + 1].y; };
  for (std::size_t i = 0; i + 1 < 4; ++i) {
    EXPECT_NEAR(two[i + 1].x - two[i].x, two[1].x - two[0].x, 0.03);
    EXPECT_GT(rise(one, i), 1.0);  // dearer is higher
    EXPECT_NEAR(rise(two, i), 2 * rise(one, i), 0.05);
  }
  EXPECT_LT(two[3].y, one[3].y);
}

TEST(Chart, MarksSayWhatTheyMark) {
  const Chart chart{.title = "t < n",
                    .x = {.label = "positions", .doubling = true},
                    .y = {.label = "time", .unit = "s"},
                    .series = {powers("a", 2.0, "#aa0000")},
                    .legend = false};
  const std::string svg = chart_svg(chart);
  for (const char* const text :
       {"128", "256", "512", "1024", "100 ms", "1 s", "t &lt; n", "positions", "time"}) {
    EXPECT_THAT(svg, HasSubstr(fmt::format(">{}</text>", text)));
  }
  EXPECT_THAT(svg, Not(HasSubstr(">64</text>")));
  EXPECT_THAT(svg, Not(HasSubstr(">a</text>")));
}

TEST(Chart, LinesAreNamedAndThoseCalculatedDashed) {
  Series dashed = powers("formula", 1.0, "#123456");
  dashed.dashed = true;
  const std::string svg =
      chart_svg({.title = "t", .series = {powers("a", 2.0, "#aa0000"), dashed}, .legend = true});
  EXPECT_THAT(svg, HasSubstr(">formula</text>"));
  EXPECT_THAT(svg, HasSubstr(R"(stroke="#123456" stroke-width="1.5" stroke-dasharray="5 4")"));
  const std::regex dot("<circle[^>]*fill=\"#aa0000\""), calculated("<circle[^>]*fill=\"#123456\"");
  EXPECT_TRUE(std::regex_search(svg, dot));
  EXPECT_FALSE(std::regex_search(svg, calculated));
}

// The sheet is the first box of a picture, the background of the legend the second.
Point legend_corner(const std::string& svg) {
  const std::regex box("<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*fill=\"#ffffff\"");
  auto found = std::sregex_iterator(svg.begin(), svg.end(), box);
  ++found;
  return {std::stod((*found)[1]), std::stod((*found)[2])};
}

TEST(Chart, DotsOnlyWhereThereIsRoom) {
  Series few{.name = "few", .points = {}, .color = "#aa0000"}, many = few;
  for (int i = 1; i <= 5; ++i) few.points.push_back({1.0 * i, 1.0});
  for (int i = 1; i <= 100; ++i) many.points.push_back({1.0 * i, 1.0});
  const auto drawn = [](const Series& series) {
    return chart_svg(
        {.title = "", .x = {.linear = true}, .y = {.linear = true}, .series = {series}});
  };
  EXPECT_THAT(drawn(few), HasSubstr("<circle"));
  EXPECT_THAT(drawn(many), Not(HasSubstr("<circle")));
  EXPECT_EQ(line_of(drawn(many), "#aa0000").size(), 100u);
}

TEST(Chart, TheLegendAvoidsTheLines) {
  const auto drawn = [](std::vector<Point> points) {
    return legend_corner(
        chart_svg({.title = "t",
                   .series = {{.name = "a", .points = std::move(points), .color = "#aa0000"}},
                   .legend = true}));
  };
  const Point rising = drawn({{1, 1}, {2, 10}, {4, 100}});
  EXPECT_LT(rising.x, 200);  // upper left
  EXPECT_LT(rising.y, 150);
  const Point falling = drawn({{1, 100}, {4, 1}});
  EXPECT_GT(falling.x, 200);  // upper right
  EXPECT_LT(falling.y, 150);
}

TEST(Chart, LinesThatCoincideAreBothSeen) {
  const std::string svg = chart_svg(
      {.title = "t", .series = {powers("a", 2.0, "#aa0000"), powers("b", 2.0, "#0000aa")}});
  const auto width = [&](const std::string& color) {
    std::smatch match;
    std::regex_search(svg, match,
                      std::regex("stroke=\"" + color + "\" stroke-width=\"([0-9.]+)\""));
    return std::stod(match[1]);
  };
  EXPECT_GT(width("#aa0000"), width("#0000aa"));
  EXPECT_GT(svg.find("stroke=\"#0000aa\""), svg.find("stroke=\"#aa0000\""));
}

TEST(Chart, AFlatLineHasRoom) {
  const std::string svg = chart_svg(
      {.title = "t", .series = {{.name = "one", .points = {{1, 1}, {8, 1}}, .color = "#aa0000"}}});
  const auto line = line_of(svg, "#aa0000");
  ASSERT_EQ(line.size(), 2u);
  EXPECT_EQ(line[0].y, line[1].y);
  EXPECT_GT(line[0].y, 30);
  EXPECT_LT(line[0].y, 270);
}

TEST(Chart, NumbersHavePrefixes) {
  EXPECT_EQ(with_prefix(0.0015, "s"), "1.5 ms");
  EXPECT_EQ(with_prefix(2e-8, "s"), "20 ns");
  EXPECT_EQ(with_prefix(1e-6, "s"), "1 µs");
  EXPECT_EQ(with_prefix(0.001, "s"), "1 ms");
  EXPECT_EQ(with_prefix(512, ""), "512");
  EXPECT_EQ(with_prefix(4096, ""), "4096");
  EXPECT_EQ(with_prefix(20000, ""), "20 k");
  EXPECT_EQ(with_prefix(3.2e9, "B"), "3.2 GB");
  EXPECT_EQ(with_prefix(0, "s"), "0");
  EXPECT_EQ(with_prefix(-0.002, "s"), "−2 ms");
}

TEST(Chart, LinearAxes) {
  const Chart chart{.title = "t",
                    .x = {.linear = true},
                    .y = {.linear = true},
                    .series = {{.name = "a",
                                .points = {{0, -1}, {500, 0}, {1000, 1}},
                                .color = "#aa0000",
                                .dots = false}}};
  const std::string svg = chart_svg(chart);
  const auto line = line_of(svg, "#aa0000");
  ASSERT_EQ(line.size(), 3u);
  EXPECT_NEAR(line[1].x - line[0].x, line[2].x - line[1].x, 0.03);
  EXPECT_NEAR(line[0].y - line[1].y, line[1].y - line[2].y, 0.03);
  EXPECT_THAT(svg, Not(HasSubstr("<circle")));
  for (const char* const text : {"0", "200", "1000", "−0.5", "0.5"}) {
    EXPECT_THAT(svg, HasSubstr(fmt::format(">{}</text>", text)));
  }
}

// Few enough to be read, however long or short the axis is.
TEST(Chart, LinearMarksAreFew) {
  for (const double span : {1e-6, 0.3, 7.0, 1234.0, 4e9}) {
    for (const double base : {0.0, 1.0, 1e6}) {
      const std::string svg = chart_svg(
          {.title = "t",
           .x = {.linear = true},
           .y = {.linear = true},
           .series = {{.name = "a", .points = {{base, 1}, {base + span, 2}}, .color = "#aa0000"}}});
      std::int64_t lines = 0;
      for (std::size_t at = 0; (at = svg.find("#e6e6e6", at)) != std::string::npos; ++at) ++lines;
      EXPECT_GE(lines, 2 + 2) << base << " " << span;
      EXPECT_LE(lines, 8 + 8) << base << " " << span;
    }
  }
}

TEST(Chart, OnlyPositiveNumbers) {
  const auto draw = [](std::vector<Point> points) {
    return error_message([&] {
      chart_svg({.title = "t", .series = {{.name = "a", .points = points, .color = "#000"}}});
    });
  };
  EXPECT_THAT(draw({{1, 0}}), HasSubstr("a has a point at 0"));
  EXPECT_THAT(draw({}), HasSubstr("t has no points"));
}

TEST(Chart, RefusesWhatCannotBeDrawn) {
  const auto chart = [](double from, double to) {
    return Chart{.x = {.linear = true},
                 .y = {.linear = true},
                 .series = {{.name = "s", .points = {{from, 1.0}, {to, 2.0}}, .color = "#000000"}}};
  };
  EXPECT_THAT(error_message([&] { chart_svg(chart(-1.7e308, 1.7e308)); }),
              HasSubstr("too large to draw"));
  EXPECT_THAT(error_message([&] { chart_svg(chart(0.0, 1.0), 40.0); }), HasSubstr("no room"));
  EXPECT_THAT(error_message([&] { chart_svg(chart(0.0, 1.0), 400.0, -1.0); }),
              HasSubstr("no room"));
  EXPECT_THAT(error_message([&] { chart_svg(chart(0.0, 1.0), std::nan("")); }),
              HasSubstr("finite"));
  EXPECT_THAT(chart_svg(chart(5e-324, 1e300)), HasSubstr("</svg>"));
  EXPECT_EQ(with_prefix(std::nan(""), "s"), "nan");
}

}  // namespace
}  // namespace heed::plot
