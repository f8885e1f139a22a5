// Texts as sentences, which translators read one by one, and the white space between them. Lines
// always end a sentence. The rules are few and need no dictionary of a language: an end mark, then
// white space, then no lower-case letter; Chinese and Japanese end marks need no white space.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::serve {

/// A sentence, or what stands between sentences. The pieces of a text together are the text.
struct TextPiece {
  std::string text;
  bool is_sentence = false;

  friend bool operator==(const TextPiece&, const TextPiece&) = default;
};

/// Splits a text at the ends of lines and, if `sentences`, of sentences.
std::vector<TextPiece> split_text(std::string_view text, bool sentences = true);

}  // namespace heed::serve
