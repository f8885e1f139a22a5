// A framed table, for a terminal or for LaTeX, formatted like Python's tabulate for sacreBLEU: the
// first column right-aligned, all others centred. Cells may have several lines (not in LaTeX) and
// colours.
#pragma once

#include <string>
#include <vector>

namespace heed::evaluation {

/// A table of texts.
struct Grid {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< Each as long as the header.
};

/// The table with lines around the cells, as tabulate's fancy_grid.
std::string grid_text(const Grid& grid);

/// The table as a LaTeX tabular with booktabs.
std::string grid_latex(const Grid& grid);

}  // namespace heed::evaluation
