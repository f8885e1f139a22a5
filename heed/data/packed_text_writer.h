// Writes packed texts (packed_text.h): reads a text line by line, tokenizes it with all threads and
// appends the tokens. They are those of read_tokens (token_stream.h). The folder appears when it is
// complete, or not at all.
//
//   pack_text("corpus.txt", *tokenizer, "packed");
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "heed/data/line_check.h"
#include "heed/data/packed_text.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct TextPackingOptions {
  OnBad on_bad = OnBad::stop;
  std::int64_t file_tokens = std::int64_t{1} << 29;   ///< Tokens of a file, whole blocks.
  std::int64_t block_tokens = std::int64_t{1} << 16;  ///< Tokens that are checked together.
  /// Called now and then with the number of lines read.
  std::function<void(std::int64_t lines)> progress = [](std::int64_t) {};
};

struct TextPackingReport {
  std::int64_t lines = 0;  ///< Read.
  std::int64_t tokens = 0;
  BadLines bad = {};  ///< Lines that were left out.
};

/// Writes the tokens of a text file, plain or gzip, into a new folder. A text without tokens is an
/// error.
TextPackingReport pack_text(const std::filesystem::path& text, const Tokenizer& tokenizer,
                            const std::filesystem::path& folder,
                            const TextPackingOptions& options = {});

}  // namespace heed
