// Every field of a config as a flag of a verb: "schedule.peak" as --schedule.peak, and as --peak
// where no other is called that; lists take several values.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "heed/io/fields.h"

namespace heed::cli {

/// Adds the flags; what the command line gives them is appended as "path=value", which
/// io::set_fields() takes. `assignments` must live until the verb runs.
void add_config_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                      std::vector<std::string>& assignments);

}  // namespace heed::cli
