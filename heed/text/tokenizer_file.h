// heed's own file of a tokenizer that has no format of its own: JSON that says its kind and lists
// its tokens in order. SentencePiece models stay what they are.
//
//   { "heed_tokenizer": 1, "kind": "words", "tokens": ["<unk>", "<s>", "</s>", "<pad>", "dog"], … }
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/fields.h"
#include "heed/text/vocabulary.h"

namespace heed {

/// The kinds of tokenizers that are stored so.
enum class TokenizerKind { words, characters, subword_nmt };

constexpr std::array<io::EnumName<TokenizerKind>, 3> enum_names(TokenizerKind) {
  return {{{TokenizerKind::words, "words"},
           {TokenizerKind::characters, "characters"},
           {TokenizerKind::subword_nmt, "subword_nmt"}}};
}

/// What such a file holds.
struct TokenizerFile {
  static constexpr std::int64_t kVersion = 1;

  std::int64_t heed_tokenizer = 0;
  TokenizerKind kind = TokenizerKind::words;
  std::vector<std::string> tokens;
  std::vector<std::int64_t> counts;
  std::string joint;
  std::vector<std::string> codes;
  std::optional<std::int64_t> threshold = {};

  void fields(io::Fields& field);
  void validate() const;
  /// The tokens as a vocabulary.
  Vocabulary vocabulary() const;
};

/// The file of a kind and its vocabulary, for the caller to complete.
TokenizerFile tokenizer_file(TokenizerKind kind, const Vocabulary& vocabulary);

/// The file as text.
std::string tokenizer_text(const TokenizerFile& file);

/// Whether a text is meant to be such a file.
bool is_tokenizer_text(std::string_view text);

/// Reads such a text, strictly; `source` names it in messages.
TokenizerFile parse_tokenizer_file(std::string_view text, std::string_view source);

}  // namespace heed
