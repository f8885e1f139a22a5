// A list of the probable translations of each source token. A translator that has one chooses among
// the translations of the tokens of a sentence instead of the whole vocabulary, which makes the
// output layer many times smaller. Probabilities are then those among these tokens.
//
//   const auto list = std::make_shared<Shortlist>(load_shortlist("list.txt", *source, *target));
//   translator.with_shortlist(list).translate(…);
//
// A file has lines "target source probability", as those of Marian; `heed shortlist` makes one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "heed/io/fields.h"
#include "heed/text/lexical_entry.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct ShortlistOptions {
  std::int64_t best = 100;    // translations of each source token
  std::int64_t common = 100;  // tokens that are candidates in every sentence

  void fields(io::Fields& field);
};

class Shortlist {
 public:
  /// Of each source token the most probable targets; `common` are those with the greatest sum of
  /// probabilities over all source tokens.
  Shortlist(std::vector<LexicalEntry> entries, const ShortlistOptions& options = {});

  /// The tokens that may translate a sentence, ascending. Nothing if the list has no entry for one
  /// of its tokens: then all tokens may.
  std::optional<std::vector<std::int32_t>> candidates(std::span<const std::int32_t> sentence) const;

  /// The number of source tokens with translations.
  std::int64_t size() const { return known_; }

 private:
  std::vector<std::int64_t> starts_;  // of the targets of each source token, and the end
  std::vector<std::int32_t> targets_;
  std::vector<std::int32_t> common_;  // ascending
  std::int64_t known_ = 0;
};

/// Reads a file, plain or gzip. Lines with the source NULL are skipped.
Shortlist load_shortlist(const std::filesystem::path& path, const Tokenizer& source,
                         const Tokenizer& target, const ShortlistOptions& options = {});

/// Writes a file. Tokens that contain white space cannot be written and are left out.
void save_shortlist(const std::filesystem::path& path, std::span<const LexicalEntry> entries,
                    const Tokenizer& source, const Tokenizer& target);

}  // namespace heed
