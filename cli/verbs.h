// The verbs of the program, one function and one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace heed::cli {

/// Each adds its subcommand, which runs when the command line names it.
void add_demo(CLI::App& app);
void add_inspect(CLI::App& app);
void add_info(CLI::App& app);
void add_list(CLI::App& app);
void add_see(CLI::App& app);
void add_compare(CLI::App& app);
void add_corpus(CLI::App& app);
void add_vocab(CLI::App& app);

}  // namespace heed::cli
