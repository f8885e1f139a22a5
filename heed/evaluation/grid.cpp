#include "heed/evaluation/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

std::vector<std::string> lines_of_cell(std::string_view cell) {
  std::vector<std::string> lines;
  for (std::size_t at = 0;;) {
    const std::size_t end = cell.find('\n', at);
    lines.emplace_back(cell.substr(at, end - at));
    if (end == cell.npos) return lines;
    at = end + 1;
  }
}

// The number of visible characters, without colour codes.
std::size_t visible_width(std::string_view line) {
  std::size_t count = 0;
  bool inside = false;
  for (const char32_t c : unicode::decode(line)) {
    if (c == U'\x1b') inside = true;
    if (!inside) ++count;
    if (inside && c == U'm') inside = false;
  }
  return count;
}

std::size_t cell_width(std::string_view cell) {
  std::size_t widest = 0;
  for (const std::string& line : lines_of_cell(cell))
    widest = std::max(widest, visible_width(line));
  return widest;
}

std::vector<std::size_t> column_widths(const Grid& grid) {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < grid.header.size(); ++column) {
    widths.push_back(cell_width(grid.header[column]) + 2);
    for (const auto& row : grid.rows) {
      widths.back() = std::max(widths.back(), cell_width(row[column]));
    }
  }
  return widths;
}

std::string pad(const std::string& line, std::size_t column, std::size_t width) {
  const std::size_t room = width - visible_width(line);
  const std::size_t left = column == 0 ? room : room / 2;
  return std::string(left, ' ') + line + std::string(room - left, ' ');
}

// One row of cells, with as many lines as the tallest cell.
std::string row_text(const std::vector<std::string>& cells,
                     const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  for (const std::string& cell : cells) {
    columns.push_back(lines_of_cell(cell));
    height = std::max(height, columns.back().size());
  }
  std::string text;
  for (std::size_t i = 0; i < height; ++i) {
    text += "│";
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string line = i < columns[c].size() ? columns[c][i] : "";
      text += fmt::format(" {} │", pad(line, c, widths[c]));
    }
    text += "\n";
  }
  return text;
}

struct Rule {
  std::string_view left, line, cross, right;
};

std::string rule_text(const Rule& rule, const std::vector<std::size_t>& widths) {
  std::string text(rule.left);
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (c > 0) text += rule.cross;
    for (std::size_t i = 0; i < widths[c] + 2; ++i) text += rule.line;
  }
  return text.append(rule.right) + "\n";
}

std::string escape_latex(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      case '^':
        result += "\\^{}";
        break;
      case '<':
      case '>':
        result += fmt::format("\\ensuremath{{{}}}", c);
        break;
      default:
        if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) result += '\\';
        result += c;
    }
  }
  return result;
}

std::string latex_row(const std::vector<std::string>& cells,
                      const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    text += fmt::format("{} {} ", c > 0 ? "&" : "", escape_latex(pad(cells[c], c, widths[c])));
  }
  return text + "\\\\\n";
}

}  // namespace

std::string grid_text(const Grid& grid) {
  const std::vector<std::size_t> widths = column_widths(grid);
  std::string text = rule_text({"╒", "═", "╤", "╕"}, widths) + row_text(grid.header, widths) +
                     rule_text({"╞", "═", "╪", "╡"}, widths);
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    if (i > 0) text += rule_text({"├", "─", "┼", "┤"}, widths);
    text += row_text(grid.rows[i], widths);
  }
  return text + rule_text({"╘", "═", "╧", "╛"}, widths);
}

std::string grid_latex(const Grid& grid) {
  const std::vector<std::size_t> widths = column_widths(grid);
  std::string text = "\\begin{tabular}{r" + std::string(widths.size() - 1, 'c') + "}\n\\toprule\n" +
                     latex_row(grid.header, widths) + "\\midrule\n";
  for (const auto& row : grid.rows) text += latex_row(row, widths);
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace heed::evaluation
