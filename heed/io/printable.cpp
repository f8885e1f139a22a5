#include "heed/io/printable.h"

#include <fmt/format.h>

namespace heed::io {

std::string printable(std::string_view text) {
  // fmt's debug format knows what can be printed. It also adds quotes, and escapes them.
  const std::string quoted = fmt::format("{:?}", text);
  std::string shown;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] == '\\' && (quoted[i + 1] == '"' || quoted[i + 1] == '\\')) ++i;
    shown += quoted[i];
  }
  return shown;
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  while (true) {
    const std::size_t end = text.find('\n');
    shown += printable(text.substr(0, end));
    if (end == text.npos) return shown;
    shown += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace heed::io
