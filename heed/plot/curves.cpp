#include "heed/plot/curves.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/plot/chart.h"
#include "heed/training/curves.h"

namespace heed::plot {
namespace {

constexpr double kCurveWidth = 460.0, kCurveHeight = 330.0;
constexpr std::size_t kMostPoints = 240;  // of a training curve; more cannot be distinguished

struct RunColor {
  const char* strong;  // validation
  const char* pale;    // training
};
// Colors that color-blind readers can tell apart.
constexpr std::array<RunColor, 6> kColors = {{{"#0b5fa5", "#8db8de"},
                                              {"#d1495b", "#edb0b8"},
                                              {"#2e8b57", "#a3cfb6"},
                                              {"#b8860b", "#e2cb8f"},
                                              {"#7b4ea3", "#c5b0d9"},
                                              {"#444444", "#b5b5b5"}}};

// Means of neighbouring points, in buckets of equal width on the drawn axis.
std::vector<Point> thinned(const std::vector<Point>& points, bool log_updates) {
  if (points.size() <= kMostPoints) return points;
  const auto place = [&](double x) { return log_updates ? std::log(x) : x; };
  const double first = place(points.front().x), last = place(points.back().x);
  const double width = (last - first) / static_cast<double>(kMostPoints);
  std::vector<Point> means;
  std::size_t begin = 0;
  while (begin < points.size()) {
    const double bucket = std::floor((place(points[begin].x) - first) / width);
    Point sum;
    std::size_t end = begin;
    do {
      sum.x += points[end].x;
      sum.y += points[end].y;
      ++end;
    } while (end < points.size() && std::floor((place(points[end].x) - first) / width) == bucket);
    const auto n = static_cast<double>(end - begin);
    means.push_back({sum.x / n, sum.y / n});
    begin = end;
  }
  return means;
}

const RunCurve* find(const std::vector<RunCurve>& curves, const std::string& metric) {
  const auto found = std::ranges::find(curves, metric, &RunCurve::metric);
  return found == curves.end() || found->points.empty() ? nullptr : &*found;
}

std::string title_of(const std::string& metric) {
  if (metric == "bleu") return "BLEU";
  if (metric == "chrf") return "chrF";
  return metric;
}

Chart empty_chart(const std::string& title, bool log_updates) {
  return {.title = title,
          .x = {.label = "updates", .linear = !log_updates},
          .y = {.linear = true},
          .series = {},
          .legend = true};
}

Chart loss_chart(const std::vector<TrainingRun>& runs, bool log_updates) {
  Chart chart = empty_chart("loss", log_updates);
  chart.y.label = "nats per token";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string of = runs.size() > 1 ? runs[i].name + ", " : "";
    const RunColor& color = kColors[i % kColors.size()];
    if (!runs[i].training.empty()) {
      chart.series.push_back({.name = of + "training",
                              .points = thinned(runs[i].training, log_updates),
                              .color = color.pale,
                              .dots = false});
    }
    if (const RunCurve* const loss = find(runs[i].validation, "loss")) {
      chart.series.push_back(
          {.name = of + "validation", .points = loss->points, .color = color.strong});
    }
  }
  // Pale lines are drawn first, so that they do not cover those of validation.
  std::ranges::stable_partition(chart.series, [](const Series& series) { return !series.dots; });
  return chart;
}

Chart metric_chart(const std::vector<TrainingRun>& runs, const std::string& metric,
                   bool log_updates) {
  Chart chart = empty_chart(title_of(metric) + " of validation", log_updates);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (const RunCurve* const curve = find(runs[i].validation, metric)) {
      chart.series.push_back({.name = runs[i].name,
                              .points = curve->points,
                              .color = kColors[i % kColors.size()].strong});
    }
  }
  chart.legend = runs.size() > 1;
  return chart;
}

Chart sample_chart(const std::vector<TrainingRun>& runs, const std::string& metric,
                   bool log_updates) {
  Chart chart = empty_chart(metric + " of samples", log_updates);
  chart.y.label = "nats";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (const RunCurve* const curve = find(runs[i].samples, metric)) {
      chart.series.push_back({.name = runs[i].name,
                              .points = thinned(curve->points, log_updates),
                              .color = kColors[i % kColors.size()].strong,
                              .dots = false});
    }
  }
  chart.legend = runs.size() > 1;
  return chart;
}

std::vector<Point> over_updates(const std::vector<CurvePoint>& points) {
  std::vector<Point> drawn;
  drawn.reserve(points.size());
  for (const CurvePoint& point : points) {
    drawn.push_back({static_cast<double>(point.update), point.value});
  }
  return drawn;
}

}  // namespace

TrainingRun read_run(const std::filesystem::path& folder) {
  const Curves curves = read_curves(folder);
  TrainingRun run{.name = (folder / "").parent_path().filename().string(),
                  .training = over_updates(curves.training),
                  .validation = {}};
  for (const Curve& curve : curves.validation) {
    run.validation.push_back({curve.metric, over_updates(curve.points)});
  }
  for (const Curve& curve : curves.samples) {
    run.samples.push_back({curve.metric, over_updates(curve.points)});
  }
  return run;
}

std::string curves_svg(const std::vector<TrainingRun>& runs, bool log_updates) {
  std::vector<Chart> charts;
  charts.push_back(loss_chart(runs, log_updates));
  HEED_CHECK(!charts[0].series.empty(), "[see] these curves have no updates yet");
  std::vector<std::string> drawn = {"loss", "perplexity"};
  for (const TrainingRun& run : runs) {
    for (const RunCurve& curve : run.validation) {
      if (curve.points.empty() || std::ranges::find(drawn, curve.metric) != drawn.end()) continue;
      drawn.push_back(curve.metric);
      charts.push_back(metric_chart(runs, curve.metric, log_updates));
    }
  }
  for (const char* const metric : {"reward", "entropy"}) {
    Chart chart = sample_chart(runs, metric, log_updates);
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  const auto count = static_cast<double>(charts.size());
  Svg svg(kCurveWidth * count, kCurveHeight, "training curves");
  for (std::size_t i = 0; i < charts.size(); ++i) {
    draw_chart(svg, charts[i],
               {kCurveWidth * static_cast<double>(i), 4.0, kCurveWidth, kCurveHeight - 4.0});
  }
  return svg.finish();
}

}  // namespace heed::plot
