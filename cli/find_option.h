// Options of a verb by name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heed::cli {

/// The option with this name, "--name", or null. CLI11's own search is noexcept, so it ends the
/// process if memory runs out in it.
inline CLI::Option* find_option(CLI::App& verb, const std::string& name) {
  const std::vector<CLI::Option*> found =
      verb.get_options([&](const CLI::Option* option) { return option->check_name(name); });
  return found.empty() ? nullptr : found.front();
}

}  // namespace heed::cli
