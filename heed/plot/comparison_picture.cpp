// The picture of a comparison: formulas and exponents above, six charts below.
#include <fmt/format.h>

#include "heed/plot/chart.h"
#include "heed/plot/comparison.h"

namespace heed::plot {
namespace {

constexpr double kPictureMargin = 20.0;
constexpr double kChartWidth = 360.0, kChartHeight = 270.0;
constexpr double kPictureWidth = 2 * kPictureMargin + 3 * kChartWidth;

// Colors that color-blind readers can tell apart.
struct Line {
  const ComparedLayer* layer;
  const char* color;
  bool dashed;
};

std::vector<Line> lines_of(const Comparison& c) {
  return {{&c.convolution, "#e07b00", false},
          {&c.dilated, "#e07b00", true},
          {&c.recurrence, "#12876a", false},
          {&c.attention, "#1f5fa8", false},
          {&c.restricted, "#b0419a", false}};
}

using Cost = double (*)(const Measurement& m);
double seconds_in(const Measurement& m) { return m.seconds; }
double bytes_in(const Measurement& m) { return static_cast<double>(m.bytes); }
double flops_in(const Measurement& m) { return static_cast<double>(m.flops); }

// A line for each measured layer, through the points for which `place` gives a position on the
// axis.
template <typename Place>
std::vector<Series> measured(const Comparison& c, Cost cost, const Place& place) {
  std::vector<Series> all;
  for (const Line& line : lines_of(c)) {
    if (line.layer->points.empty()) continue;
    Series series{.name = line.layer->title, .points = {}, .color = line.color};
    for (const Measurement& m : line.layer->points) {
      if (const std::int64_t x = place(m))
        series.points.push_back({static_cast<double>(x), cost(m)});
    }
    all.push_back(std::move(series));
  }
  return all;
}

Chart against_length(const Comparison& c, const char* what, const char* unit, Cost cost) {
  const std::int64_t size = c.config.sizes.front();
  return {.title = fmt::format("{} against n, d = {}", what, size),
          .x = {.label = "positions n", .doubling = true},
          .y = {.unit = unit},
          .series = measured(c, cost,
                             [&](const Measurement& m) { return m.size == size ? m.length : 0; })};
}

Chart time_against_size(const Comparison& c) {
  const std::int64_t length = c.config.lengths.back();
  return {.title = fmt::format("Time against d, n = {}", length),
          .x = {.label = "features d", .doubling = true},
          .y = {.unit = "s"},
          .series = measured(c, seconds_in, [&](const Measurement& m) {
            return m.length == length ? m.size : 0;
          })};
}

Chart path_chart(const Comparison& c) {
  Chart chart{.title = "Longest path, counted on the tape",
              .x = {.label = "positions n", .doubling = true},
              .y = {.label = "ops"},
              .series = {}};
  for (const Line& line : lines_of(c)) {
    Series series{
        .name = line.layer->title, .points = {}, .color = line.color, .dashed = line.dashed};
    for (const CountedPath& p : line.layer->paths) {
      series.points.push_back({static_cast<double>(p.length), static_cast<double>(p.counted.path)});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

Chart crossover_chart(const Comparison& c) {
  Series formula{.name = "formula: n = d", .points = {}, .color = "#666666", .dashed = true};
  Series by_flops{.name = "by operations", .points = {}, .color = "#e07b00"};
  Series by_time{.name = "by time", .points = {}, .color = "#1f5fa8"};
  for (const CrossoverAtSize& at : c.crossovers) {
    const auto d = static_cast<double>(at.size);
    formula.points.push_back({d, d});
    if (at.by_flops.at) by_flops.points.push_back({d, *at.by_flops.at});
    // Crossovers outside the measured lengths are only in the table.
    if (at.by_time.place == Crossover::Place::within) by_time.points.push_back({d, *at.by_time.at});
  }
  Chart chart{.title = "Crossover: self-attention is dearer above",
              .x = {.label = "features d", .doubling = true},
              .y = {.label = "positions n", .doubling = true},
              .series = {},
              .legend = true};
  for (Series* const series : {&by_flops, &by_time, &formula}) {
    if (!series->points.empty()) chart.series.push_back(std::move(*series));
  }
  return chart;
}

// n^2 with a superscript: n².
std::string raised(std::string_view formula) {
  std::string text;
  for (auto at = formula.find("^2"); at != formula.npos; at = formula.find("^2")) {
    text += formula.substr(0, at);
    text += "²";
    formula.remove_prefix(at + 2);
  }
  return text.append(formula);
}

Table summary(const Comparison& c) {
  Table table{.header = {"layer", "complexity", "sequential", "longest path", "time ~", "memory ~",
                         "operations ~", fmt::format("path, n = {}", c.config.path_lengths.back())},
              .words = 7};
  const auto text = [](const ComparedLayer& layer, const Growth& g) {
    return layer.points.empty() ? "as above"
                                : fmt::format("n^{:.2f} d^{:.2f}", g.in_length, g.in_size);
  };
  for (const ComparedLayer* const layer : c.layers()) {
    table.rows.push_back(
        {layer->title, raised(layer->formulas.complexity), layer->formulas.sequential,
         layer->formulas.path, text(*layer, layer->time), text(*layer, layer->memory),
         text(*layer, layer->flops), fmt::to_string(layer->paths.back().counted.path)});
  }
  return table;
}

}  // namespace

std::string comparison_svg(const Comparison& c) {
  constexpr double kTop = 250.0;
  Svg svg(kPictureWidth, kTop + 2 * kChartHeight + kPictureMargin,
          "Convolution, recurrence and self-attention compared");
  svg.text({kPictureMargin, 32.0}, "Sequence layers of equal width", {.size = 18.0, .bold = true});
  svg.text({kPictureMargin, 52.0},
           fmt::format("One layer, n positions of d features; {}. Formulas: Vaswani et al. 2017. "
                       "Exponents: fitted over n at d = {}, over d at n = {}.",
                       comparison_conditions(c), c.config.sizes.front(), c.config.lengths.back()),
           {.size = 12.0, .color = "#555555"});
  draw_table(svg, summary(c), {kPictureMargin, 66.0});
  const std::vector<Chart> charts = {against_length(c, "Time", "s", seconds_in),
                                     against_length(c, "Memory", "B", bytes_in),
                                     against_length(c, "Operations", "", flops_in),
                                     time_against_size(c),
                                     path_chart(c),
                                     crossover_chart(c)};
  draw_legend(svg, charts[4].series, {kPictureMargin, kTop - 36.0}, Flow::right);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const double x = kPictureMargin + static_cast<double>(i % 3) * kChartWidth;
    const double y = kTop + static_cast<double>(i / 3) * kChartHeight;
    draw_chart(svg, charts[i], {x, y, kChartWidth, kChartHeight});
  }
  return svg.finish();
}

}  // namespace heed::plot
