// A table of texts with aligned columns, for a terminal and for a picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/plot/svg.h"

namespace heed::plot {

/// The content of a table.
struct Table {
  std::string title = {};
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows = {};  ///< Each as long as the header.
  /// The number of left-aligned columns; the columns after them are right-aligned, as for numbers.
  std::int64_t words = 1;
};

/// The table as text, with two spaces between columns and the title, if any, above.
std::string table_text(const Table& table);

/// Draws a table with its upper left corner at `at` and returns the box that it fills.
Box draw_table(Svg& svg, const Table& table, Point at);

/// The number of characters (not bytes) of a UTF-8 text.
std::int64_t characters(std::string_view text);

}  // namespace heed::plot
