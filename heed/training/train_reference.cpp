#include "heed/training/train_reference.h"

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "heed/io/config.h"
#include "heed/training/train_config.h"

namespace heed {
namespace {

// The description of each section: the comment after its name, as in a config file.
std::map<std::string, std::string> section_help(const std::string& toml) {
  std::map<std::string, std::string> help;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t end = line.find("]  # ");
    if (line.starts_with('[') && end != std::string::npos) {
      help[line.substr(1, end - 1)] = line.substr(end + 5);
    }
  }
  return help;
}

// A bar would end the table cell: "a|b" becomes "`a`, `b`".
std::string type_text(std::string_view type) {
  constexpr std::string_view kFlag = "true|false";
  if (type.starts_with(kFlag)) return fmt::format("true or false{}", type.substr(kFlag.size()));
  if (type.find('|') == std::string_view::npos) return std::string(type);
  std::string names = "`";
  for (const char c : type) c == '|' ? names += "`, `" : names += c;
  return names + "`";
}

std::string section_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return std::string(dot == std::string_view::npos ? "" : path.substr(0, dot));
}

}  // namespace

std::string train_reference() {
  const std::vector<io::FieldInfo> fields = io::list_fields(TrainConfig{});
  std::vector<std::string> sections = {""};
  std::map<std::string, std::string> tables;
  for (const io::FieldInfo& field : fields) {
    const std::string section = section_of(field.path);
    if (!section.empty() && !tables.contains(section)) sections.push_back(section);
    tables[section] += fmt::format("| `{}` | {} | `{}` | {} |\n",
                                   field.path.substr(section.empty() ? 0 : section.size() + 1),
                                   type_text(field.type), field.value, field.help);
  }
  const auto help = section_help(io::to_toml(TrainConfig{}));
  std::string text;
  for (const std::string& section : sections) {
    if (!section.empty()) text += fmt::format("\n## [{}]\n\n{}\n\n", section, help.at(section));
    text += "| key | type | default | meaning |\n|---|---|---|---|\n" + tables[section];
  }
  return text;
}

}  // namespace heed
