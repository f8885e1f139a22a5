// A table in a frame, for a terminal or for LaTeX, set as Python's tabulate sets it for sacreBLEU:
// the first column to the right, all others centred. Cells may have several lines (not in LaTeX)
// and colours.
#pragma once

#include <string>
#include <vector>

namespace heed::evaluation {

struct Grid {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< Each as long as the header.
};

/// With lines drawn around the cells, tabulate's fancy_grid.
std::string grid_text(const Grid& grid);

/// A tabular of the package booktabs.
std::string grid_latex(const Grid& grid);

}  // namespace heed::evaluation
