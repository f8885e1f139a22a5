// A table of words, for a terminal and for a picture: one list of rows, aligned columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/plot/svg.h"

namespace heed::plot {

struct Table {
  std::string title = {};
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows = {};  ///< Each as long as the header.
  /// Columns whose words begin at the left; those behind end at the right, as numbers do.
  std::int64_t words = 1;
};

/// Lines of text, the columns two spaces apart; the title above, if there is one.
std::string table_text(const Table& table);

/// Draws it with its upper left corner there and returns the room it took.
Box draw_table(Svg& svg, const Table& table, Point at);

/// Characters, not bytes, of UTF-8.
std::int64_t characters(std::string_view text);

}  // namespace heed::plot
