// Words that a translator copies from its source, matched by their text: the tokens of a source as
// tokens of the target, and the words that the target's vocabulary lacks (See et al. 2017). Both
// sides may have vocabularies of their own.
//
//   const CopyTable table(*source, *target);
//   const CopiedWords copied = table.read("Zhou sleeps", ids);  // words: {"Zhou"}
//   table.decode(result, copied.words);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/text_parts.h"
#include "heed/text/tokenizer.h"
#include "heed/text/vocabulary.h"

namespace heed {

/// The words of one source. Token `vocabulary` + k of a result is words[k].
struct CopiedWords {
  std::int64_t vocabulary = 0;          ///< Tokens of the target.
  std::int32_t unknown = 0;             ///< The target's unknown token.
  std::vector<std::int32_t> ids = {};   ///< The token of the target at each source position.
  std::vector<std::string> words = {};  ///< That the target lacks, each once.

  /// A token as a model reads it: words are unknown to it.
  std::int32_t known(std::int32_t token) const { return token < vocabulary ? token : unknown; }
};

class CopyTable {
 public:
  /// The target must outlive the table, and so must the source.
  CopyTable(const Tokenizer& source, const Tokenizer& target);

  /// The words of a sentence whose tokens are `tokens`, or the first of them; special tokens may
  /// stand around them, `before` of them before. An end stands for the target's end. A token whose
  /// text the target lacks is a word if both tokenizers have TextParts, else unknown.
  CopiedWords read(std::string_view sentence, std::span<const std::int32_t> tokens,
                   std::int64_t before = 0) const;
  /// The tokens of a target; unknown ones that are words of the source are their tokens.
  std::vector<std::int32_t> read_target(std::string_view text, const CopiedWords& copied) const;
  /// The text of tokens of the target and of words.
  std::string decode(std::span<const std::int32_t> ids, std::span<const std::string> words) const;

 private:
  const Tokenizer& source_;
  const Tokenizer& target_;
  const TextParts* source_parts_;  // or null: then there are no words
  const TextParts* target_parts_;
  StringMap<std::int32_t> ids_;  // of the target's tokens, by their text
};

}  // namespace heed
