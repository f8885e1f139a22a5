// Messages for command lines that cannot be parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace heed::cli {

/// The message: what was not understood, and the verb or flag that was probably meant.
std::string usage_error(const CLI::App* app, const CLI::Error& error);

}  // namespace heed::cli
