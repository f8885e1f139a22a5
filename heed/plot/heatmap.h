// Attention weights as a picture: one square for each pair of a row (query) and a column (key);
// darker squares have more weight.
#pragma once

#include <string>
#include <vector>

#include "heed/plot/svg.h"
#include "heed/tensor/tensor.h"

namespace heed::plot {

/// The color of a weight in [0, 1]: white to dark blue in perceptually even steps.
std::string weight_color(double weight);

/// One matrix of weights.
struct Heatmap {
  std::string title = {};
  Tensor weights;                         ///< [rows, columns], f32 or f64.
  std::vector<std::string> rows = {};     ///< Labels; may be empty.
  std::vector<std::string> columns = {};  ///< Labels; may be empty.
};

/// Sizes and colors of heat maps.
struct HeatmapStyle {
  double cell = 14.0;    ///< Side of a square; sizes are above 0, up to 10000.
  bool relative = true;  ///< The largest weight of the matrix is the darkest color; else 1 is.
  /// The shade is weight^power; a power below 1 makes small weights visible. Above 0.
  double power = 1.0;
  double label_size = 10.0;   ///< Letter size of row and column labels.
  double title_size = 12.0;   ///< Letter size of the title.
  std::int64_t per_line = 4;  ///< Matrices side by side.
};

/// The layout of a matrix that is drawn at the origin.
struct HeatmapRoom {
  double left = 0.0, top = 0.0;      ///< Upper left corner of the first square.
  double width = 0.0, height = 0.0;  ///< Including labels and title.
};

/// The layout of a matrix; throws if the numbers of labels do not match it or the style is invalid.
HeatmapRoom heatmap_room(const Heatmap& map, const HeatmapStyle& style = {});
/// Draws one matrix; `at` is its upper left corner, including labels.
void draw_heatmap(Svg& svg, const Heatmap& map, Point at, const HeatmapStyle& style = {});

/// Several matrices as one picture, line by line.
std::string heatmap_svg(const std::vector<Heatmap>& maps, const HeatmapStyle& style = {});

}  // namespace heed::plot
