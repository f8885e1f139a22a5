#include "heed/evaluation/score_files.h"

#include <optional>

#include "heed/base/error.h"
#include "heed/io/lines.h"
#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

// The text without white space at its end.
std::string_view strip_end(std::string_view text) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const unicode::CodePoint point = unicode::front(text.substr(at));
    at += point.bytes;
    if (!unicode::is_space(point.value)) end = at;
  }
  return text.substr(0, end);
}

bool next_line(io::LineReader& reader, std::string& line) {
  if (!reader.next(line)) return false;
  const std::optional<std::size_t> bad = unicode::find_invalid(line);
  HEED_CHECK(!bad, "[score] {}: byte {} of the line is not UTF-8: convert the file", reader.place(),
             bad.value_or(0) + 1);
  line.resize(strip_end(line).size());
  return true;
}

std::vector<std::string_view> split_tabs(std::string_view line, std::size_t most) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < most) {
    const std::size_t tab = line.find('\t');
    if (tab == line.npos) break;
    fields.push_back(line.substr(0, tab));
    line.remove_prefix(tab + 1);
  }
  fields.push_back(line);
  return fields;
}

std::vector<Lines> read_fields(const std::filesystem::path& path, std::size_t wanted,
                               std::size_t most) {
  // sacreBLEU takes a byte order mark for a part of the first line.
  io::LineReader reader(path, io::kMaxLineBytes, io::ByteOrderMark::keep);
  std::vector<Lines> columns(wanted);
  for (std::string line; next_line(reader, line);) {
    const std::vector<std::string_view> fields = split_tabs(line, most);
    if (columns.empty()) columns.resize(fields.size());
    HEED_CHECK(fields.size() == columns.size(),
               "[score] {}: the line has {} tab-separated fields, there should be {}",
               reader.place(), fields.size(), columns.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      columns[i].emplace_back(strip_end(fields[i]));
    }
  }
  return columns;
}

}  // namespace

Lines read_lines(const std::filesystem::path& path) { return read_columns(path, 1)[0]; }

std::vector<Lines> read_columns(const std::filesystem::path& path, std::size_t columns) {
  HEED_CHECK(columns >= 1, "[score] a file has {} columns: must be 1 or more", columns);
  return read_fields(path, columns, columns);
}

std::vector<Lines> read_columns(const std::filesystem::path& path) {
  return read_fields(path, 0, std::string::npos);
}

}  // namespace heed::evaluation
