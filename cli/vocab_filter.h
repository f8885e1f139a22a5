// The part of `heed vocab` that writes text: encode and decode as filters, and lists of tokens.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace heed::cli {

/// Adds encode and decode: standard input to standard output, a line at a time.
void add_vocab_filters(CLI::App& vocab);

/// Prints all tokens of a tokenizer file, one a line.
void print_tokens(const std::string& path);

/// Prints the words of a tokenizer file with their counts, one a line.
void print_counts(const std::string& path);

}  // namespace heed::cli
