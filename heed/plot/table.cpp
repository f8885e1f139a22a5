#include "heed/plot/table.h"

#include <algorithm>

#include "heed/base/error.h"

namespace heed::plot {
namespace {

constexpr double kFont = 12.0;
constexpr double kCellLetter = 0.56 * kFont;  // average width of a letter
constexpr double kColumnGap = 22.0;
constexpr double kRowHeight = 20.0;

std::vector<std::int64_t> widths_of(const Table& table) {
  std::vector<std::int64_t> widths;
  for (const std::string& name : table.header) widths.push_back(characters(name));
  for (const auto& row : table.rows) {
    HEED_CHECK(row.size() == table.header.size(),
               "[table] a row of {} cells under {} headings: they must agree", row.size(),
               table.header.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], characters(row[i]));
    }
  }
  return widths;
}

bool is_words(const Table& table, std::size_t column) {
  return static_cast<std::int64_t>(column) < table.words;
}

std::string line_of(const Table& table, const std::vector<std::string>& cells,
                    const std::vector<std::int64_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string room(static_cast<std::size_t>(widths[i] - characters(cells[i])), ' ');
    if (i > 0) line += "  ";
    line += is_words(table, i) ? cells[i] + room : room + cells[i];
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::int64_t characters(std::string_view text) {
  // Counts the bytes that begin a character; the others are 10xxxxxx.
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

std::string table_text(const Table& table) {
  const std::vector<std::int64_t> widths = widths_of(table);
  std::string text = table.title.empty() ? "" : table.title + "\n";
  text += line_of(table, table.header, widths);
  for (const auto& row : table.rows) text += line_of(table, row, widths);
  return text;
}

Box draw_table(Svg& svg, const Table& table, Point at) {
  const std::vector<std::int64_t> widths = widths_of(table);
  double y = at.y;
  if (!table.title.empty()) {
    svg.text({at.x, y + 14.0}, table.title, {.size = 13.0, .bold = true});
    y += 24.0;
  }
  const auto draw_row = [&](const std::vector<std::string>& cells, bool bold) {
    double x = at.x;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double width = kCellLetter * static_cast<double>(widths[i]);
      const bool words = is_words(table, i);
      svg.text({words ? x : x + width, y + 14.0}, cells[i],
               {.size = kFont,
                .anchor = words ? "start" : "end",
                .color = bold ? "#555555" : "#222222",
                .bold = bold});
      x += width + kColumnGap;
    }
    y += kRowHeight;
    return x - kColumnGap - at.x;
  };
  const double width = draw_row(table.header, true);
  svg.line({at.x, y + 1.0}, {at.x + width, y + 1.0}, {.color = "#bbbbbb"});
  y += 3.0;
  for (const auto& row : table.rows) draw_row(row, false);
  return {at.x, at.y, width, y - at.y};
}

}  // namespace heed::plot
