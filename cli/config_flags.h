// Every field of a config as a flag of a verb: "schedule.peak" as --schedule.peak, and as --peak if
// no other field has this name. Lists take several values. A field that is true or false is set by
// --key, --key true, --key false or --no-key.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/fields.h"

namespace heed::cli {

/// Adds the flags. The values on the command line are appended as "path=value", the form of
/// io::set_fields(). `assignments` must live until the verb runs.
void add_config_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                      std::vector<std::string>& assignments);

/// Adds only the short names of fields that several of these sections share: only one section is
/// used, and which one is known when the verb runs. Appends "name=value".
void add_section_flags(CLI::App& verb, const std::vector<io::FieldInfo>& fields,
                       std::span<const std::string_view> sections,
                       std::vector<std::string>& assignments);

/// The words of a command line, where a flag and a "true" or "false" after it become one word:
/// --key false -> --key=false. A flag alone takes no value, because a sentence may follow it.
std::vector<std::string> join_truth_values(const std::vector<std::string>& words);

}  // namespace heed::cli
