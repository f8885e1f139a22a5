#include "cli/config_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

namespace heed::cli {
namespace {

std::string_view leaf_of(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// "--schedule.peak,--peak": the short name only where no other key, or flag of the verb, has it.
std::string names_of(const std::string& path, bool alone) {
  std::string name = "--" + path;
  if (alone && path.find('.') != std::string::npos) name += fmt::format(",--{}", leaf_of(path));
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

void add_config_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                      std::vector<std::string>& assignments) {
  std::map<std::string_view, int> uses;
  for (const io::FieldInfo& field : fields) ++uses[leaf_of(field.path)];
  for (const io::FieldInfo& field : fields) {
    std::string short_name = fmt::format("--{}", leaf_of(field.path));
    std::replace(short_name.begin(), short_name.end(), '_', '-');
    const bool taken = verb.get_option_no_throw(short_name) != nullptr;
    const std::string name = names_of(field.path, uses[leaf_of(field.path)] == 1 && !taken);
    const auto assign = [&assignments, path = field.path](const std::string& value) {
      assignments.push_back(fmt::format("{}={}", path, value));
    };
    const std::string unset = field.value == "\"none\"" || field.value == "[]" ? "" : field.value;
    if (field.type == "true|false") {
      verb.add_flag_function(
          name, [assign](std::int64_t count) { assign(count > 0 ? "true" : "false"); }, field.help);
    } else if (field.value.starts_with('[')) {
      verb.add_option_function<std::vector<std::string>>(
              name,
              [assign](const std::vector<std::string>& values) {
                assign(fmt::format("{}", fmt::join(values, ",")));
              },
              field.help)
          ->type_name(fmt::format("({})", field.type))
          ->default_str(unset);
    } else {
      verb.add_option_function<std::string>(name, assign, field.help)
          ->type_name(fmt::format("({})", field.type))
          ->default_str(unset);
    }
  }
}

}  // namespace heed::cli
