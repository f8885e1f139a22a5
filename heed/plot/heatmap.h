// Attention weights as a picture: a square for each pair of a row (what asks) and a column (what is
// asked), the darker the more weight.
#pragma once

#include <string>
#include <vector>

#include "heed/plot/svg.h"
#include "heed/tensor/tensor.h"

namespace heed::plot {

/// The color of a weight in [0, 1]: white to dark blue, steps that look equal.
std::string weight_color(double weight);

/// One matrix of weights.
struct Heatmap {
  std::string title = {};
  Tensor weights;                         ///< [rows, columns], f32 or f64.
  std::vector<std::string> rows = {};     ///< Labels; none: no labels.
  std::vector<std::string> columns = {};  ///< Likewise.
};

struct HeatmapStyle {
  double cell = 14.0;    ///< Side of a square.
  bool relative = true;  ///< The largest weight of the matrix is the darkest; else 1 is.
  /// Shades go by weight^power: below 1, small weights are seen too.
  double power = 1.0;
  double label_size = 10.0;   ///< Of the letters beside rows and columns.
  double title_size = 12.0;   ///< Of the title's letters.
  std::int64_t per_line = 4;  ///< Matrices side by side.
};

/// Where the parts of a matrix come when it is drawn at the origin.
struct HeatmapRoom {
  double left = 0.0, top = 0.0;      ///< The corner of the first square.
  double width = 0.0, height = 0.0;  ///< Labels and title included.
};

/// The room a matrix takes; labels that do not fit it are an error.
HeatmapRoom heatmap_room(const Heatmap& map, const HeatmapStyle& style = {});
/// Draws one matrix with its upper left corner, labels included, there.
void draw_heatmap(Svg& svg, const Heatmap& map, Point at, const HeatmapStyle& style = {});

/// Matrices as one picture, line by line.
std::string heatmap_svg(const std::vector<Heatmap>& maps, const HeatmapStyle& style = {});

}  // namespace heed::plot
