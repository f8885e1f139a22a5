// Attention weights as a picture: a square for each pair of a row (what asks) and a column (what is
// asked), the darker the more weight.
#pragma once

#include <string>
#include <vector>

#include "heed/see/svg.h"
#include "heed/tensor/tensor.h"

namespace heed::see {

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
  double cell = 14.0;         ///< Side of a square.
  bool relative = true;       ///< The largest weight of the matrix is the darkest; else 1 is.
  std::int64_t per_line = 4;  ///< Matrices side by side.
};

/// Matrices as one picture, line by line.
std::string heatmap_svg(const std::vector<Heatmap>& maps, const HeatmapStyle& style = {});

}  // namespace heed::see
