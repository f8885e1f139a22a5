#include "cli/config_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace heed::cli {

void add_config_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                      std::vector<std::string>& assignments) {
  for (const io::FieldInfo& field : fields) {
    std::string name = "--" + field.path;
    std::replace(name.begin(), name.end(), '_', '-');
    const auto assign = [&assignments, path = field.path](const std::string& value) {
      assignments.push_back(fmt::format("{}={}", path, value));
    };
    if (field.type == "true|false") {
      verb.add_flag_function(
          name, [assign](std::int64_t count) { assign(count > 0 ? "true" : "false"); }, field.help);
    } else {
      const std::string unset = field.value == "\"none\"" || field.value == "[]" ? "" : field.value;
      verb.add_option_function<std::string>(name, assign, field.help)
          ->type_name(fmt::format("({})", field.type))
          ->default_str(unset);
    }
  }
}

}  // namespace heed::cli
