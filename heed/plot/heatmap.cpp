#include "heed/plot/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/tensor/copy.h"
#include "heed/text/unicode.h"

namespace heed::plot {
namespace {

constexpr double kMapMargin = 12.0;
// Gap between a label and its matrix.
constexpr double kLabelGap = 4.0;
// Average width of a letter, relative to its size.
constexpr double kLabelLetter = 0.62;

double room_for(const std::vector<std::string>& labels, double size) {
  std::size_t longest = 0;
  for (const std::string& label : labels) longest = std::max(longest, unicode::width(label));
  return labels.empty() ? 0.0 : kLabelGap + kLabelLetter * size * static_cast<double>(longest);
}

void check(const Heatmap& map) {
  HEED_CHECK(map.weights.defined() && map.weights.rank() == 2,
             "[heatmap] weights of {} must be a matrix [rows, columns]", map.title);
  const auto fits = [](const std::vector<std::string>& labels, std::int64_t n) {
    return labels.empty() || static_cast<std::int64_t>(labels.size()) == n;
  };
  HEED_CHECK(fits(map.rows, map.weights.size(0)) && fits(map.columns, map.weights.size(1)),
             "[heatmap] {} has {} row and {} column labels for weights {}: give one each, or none",
             map.title, map.rows.size(), map.columns.size(), to_string(map.weights.shape()));
}

// A picture of larger squares or letters is a mistake, and numbers beyond make it unreadable.
constexpr double kMostPixels = 10000.0;

void check(const HeatmapStyle& style) {
  const auto fits = [](double pixels) { return pixels > 0.0 && pixels <= kMostPixels; };
  HEED_CHECK(fits(style.cell), "[heatmap] cell is {}: give the side of a square, from 0 to {}",
             style.cell, kMostPixels);
  HEED_CHECK(fits(style.label_size) && fits(style.title_size),
             "[heatmap] label_size is {} and title_size {}: give sizes of letters, from 0 to {}",
             style.label_size, style.title_size, kMostPixels);
  HEED_CHECK(std::isfinite(style.power) && style.power > 0.0,
             "[heatmap] power is {}: give a positive number, below 1 to make small weights visible",
             style.power);
}

// The largest weight that is a number; 1 if none is positive.
double largest(const std::vector<double>& weights) {
  double most = 0.0;
  for (const double weight : weights) {
    if (std::isfinite(weight)) most = std::max(most, weight);
  }
  return most > 0.0 ? most : 1.0;
}

// The number of shades. More cannot be distinguished, and neighbours of the same shade are drawn as
// one box.
constexpr int kShades = 32;

void draw_cells(Svg& svg, const std::vector<double>& w, std::int64_t columns, Point corner,
                const HeatmapStyle& style) {
  const double unit = style.relative ? largest(w) : 1.0;
  std::array<std::vector<Box>, kShades + 1> shades;
  for (std::size_t i = 0; i < w.size(); ++i) {
    // NaN stays NaN and is white.
    const double share = std::pow(std::clamp(w[i] / unit, 0.0, 1.0), style.power);
    const int shade = share > 0.0 ? static_cast<int>(std::lround(share * kShades)) : 0;
    if (shade == 0) continue;  // white, like the background
    const auto row = static_cast<double>(static_cast<std::int64_t>(i) / columns);
    const auto column = static_cast<double>(static_cast<std::int64_t>(i) % columns);
    const Box box{corner.x + column * style.cell, corner.y + row * style.cell, style.cell,
                  style.cell};
    std::vector<Box>& boxes = shades[static_cast<std::size_t>(shade)];
    if (!boxes.empty() && boxes.back().y == box.y &&
        std::abs(boxes.back().x + boxes.back().width - box.x) < 0.01) {
      boxes.back().width += style.cell;
    } else {
      boxes.push_back(box);
    }
  }
  for (int shade = 1; shade <= kShades; ++shade) {
    const std::vector<Box>& boxes = shades[static_cast<std::size_t>(shade)];
    if (!boxes.empty()) svg.boxes(boxes, weight_color(static_cast<double>(shade) / kShades));
  }
}

}  // namespace

std::string weight_color(double weight) {
  // White, light blue, blue, dark blue; lightness falls evenly.
  constexpr double kStops[][3] = {{255, 255, 255}, {189, 215, 238}, {66, 133, 196}, {8, 40, 92}};
  constexpr int kParts = 3;
  const double x = std::clamp(std::isfinite(weight) ? weight : 0.0, 0.0, 1.0) * kParts;
  const int i = std::min(static_cast<int>(x), kParts - 1);
  const double t = x - i;
  const auto mix = [&](int channel) {
    return static_cast<int>(
        std::lround(kStops[i][channel] + t * (kStops[i + 1][channel] - kStops[i][channel])));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2));
}

HeatmapRoom heatmap_room(const Heatmap& map, const HeatmapStyle& style) {
  check(map);
  check(style);
  HeatmapRoom room;
  room.left = room_for(map.rows, style.label_size);
  room.top = (map.title.empty() ? 0.0 : style.title_size + 2.0 * kLabelGap) +
             room_for(map.columns, style.label_size);
  room.width = room.left + style.cell * static_cast<double>(map.weights.size(1));
  room.height = room.top + style.cell * static_cast<double>(map.weights.size(0));
  return room;
}

void draw_heatmap(Svg& svg, const Heatmap& map, Point at, const HeatmapStyle& style) {
  const HeatmapRoom room = heatmap_room(map, style);
  const std::int64_t rows = map.weights.size(0), columns = map.weights.size(1);
  const std::vector<double> w = cast_data(map.weights, DType::f64).to_vector<double>();
  const Point corner{at.x + room.left, at.y + room.top};
  // The baseline of letters is a third of their size below the middle of a square, so that they
  // look centred.
  const double middle = 0.5 * style.cell + 0.34 * style.label_size;
  if (!map.title.empty()) {
    svg.text({corner.x, at.y + style.title_size}, map.title,
             {.size = style.title_size, .bold = true});
  }
  for (std::int64_t c = 0; c < std::ssize(map.columns); ++c) {
    svg.text({corner.x + static_cast<double>(c) * style.cell + middle, corner.y - kLabelGap},
             map.columns[static_cast<std::size_t>(c)], {.size = style.label_size, .turn = -90.0});
  }
  for (std::int64_t r = 0; r < std::ssize(map.rows); ++r) {
    svg.text({corner.x - kLabelGap, corner.y + static_cast<double>(r) * style.cell + middle},
             map.rows[static_cast<std::size_t>(r)], {.size = style.label_size, .anchor = "end"});
  }
  draw_cells(svg, w, columns, corner, style);
  svg.frame({corner.x, corner.y, style.cell * static_cast<double>(columns),
             style.cell * static_cast<double>(rows)},
            {.color = "#999999"});
}

std::string heatmap_svg(const std::vector<Heatmap>& maps, const HeatmapStyle& style) {
  HEED_CHECK(style.per_line > 0, "[heatmap] per_line is {}: give at least 1", style.per_line);
  struct Placed {
    const Heatmap* map;
    Point at;
  };
  std::vector<Placed> placed;
  double x = kMapMargin, y = kMapMargin, line = 0.0, right = kMapMargin;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    if (i > 0 && static_cast<std::int64_t>(i) % style.per_line == 0) {
      x = kMapMargin;
      y += line + kMapMargin;
      line = 0.0;
    }
    const HeatmapRoom room = heatmap_room(maps[i], style);
    placed.push_back({&maps[i], {x, y}});
    // A title may be wider than its matrix.
    const double title = room.left + kLabelLetter * style.title_size *
                                         static_cast<double>(unicode::width(maps[i].title));
    x += std::max(room.width, title) + kMapMargin;
    right = std::max(right, x);
    line = std::max(line, room.height);
  }
  Svg svg(right, y + line + kMapMargin, maps.size() == 1 ? maps[0].title : "attention weights");
  for (const Placed& p : placed) draw_heatmap(svg, *p.map, p.at, style);
  return svg.finish();
}

}  // namespace heed::plot
