// Every field of a config as a flag of a verb: "schedule.peak" as --schedule.peak, and as --peak
// where no other is called that; lists take several values.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/fields.h"

namespace heed::cli {

/// Adds the flags; what the command line gives them is appended as "path=value", which
/// io::set_fields() takes. `assignments` must live until the verb runs.
void add_config_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                      std::vector<std::string>& assignments);

/// Adds the short names of what several of these sections have, and nothing else: only one section
/// is in use, and which one is known when the verb runs. Appends "name=value".
void add_section_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                       std::span<const std::string_view> sections,
                       std::vector<std::string>& assignments);

}  // namespace heed::cli
