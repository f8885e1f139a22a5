// The file format of tokenizers that have no other: JSON with the kind and the list of tokens.
// SentencePiece models keep their own format.
//
//   { "heed_tokenizer": 1, "kind": "words", "tokens": ["<unk>", "<s>", "</s>", "<pad>", "dog"], … }
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/fields.h"
#include "heed/text/vocabulary.h"

namespace heed {

/// The kinds of tokenizers that use this format.
enum class TokenizerKind { words, characters, subword_nmt };

constexpr std::array<io::EnumName<TokenizerKind>, 3> enum_names(TokenizerKind) {
  return {{{TokenizerKind::words, "words"},
           {TokenizerKind::characters, "characters"},
           {TokenizerKind::subword_nmt, "subword_nmt"}}};
}

/// The content of a tokenizer file.
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

/// A file with the given kind and vocabulary; the caller sets the other members.
TokenizerFile tokenizer_file(TokenizerKind kind, const Vocabulary& vocabulary);

/// The most bytes of a tokenizer's file, read or written.
inline constexpr std::size_t kMaxTokenizerBytes = std::size_t{1} << 30;

/// The file as text; throws if it would be too large to be read.
std::string tokenizer_text(const TokenizerFile& file);

/// True if a text looks like a tokenizer file.
bool is_tokenizer_text(std::string_view text);

/// Reads a tokenizer file strictly; `source` names it in messages.
TokenizerFile parse_tokenizer_file(std::string_view text, std::string_view source);

}  // namespace heed
