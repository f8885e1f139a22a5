// Unicode as the tokenizers of Hugging Face use it: normal forms with the changes they make, and
// the character classes of its components. Their tables come from several versions of Unicode (8 to
// 16); marks and punctuation marks that are newer than theirs are excluded here, so that results
// are equal. utf8proc's tables are the base.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed::unicode {

/// The normal forms of Unicode (UAX #15).
enum class Form { nfc, nfd, nfkc, nfkd };

/// One character of a rewritten text. `change` is 0 if it replaces one character, 1 if it is
/// inserted, and -n if it replaces one character and the n characters after it are removed.
struct Change {
  char32_t point = 0;
  int change = 0;
};

/// The normal form of a text, which must be valid UTF-8.
std::vector<Change> normal_form(std::string_view text, Form form);

/// The lower case of one character without context: one or two characters.
struct Lower {
  char32_t first = 0;
  char32_t second = 0;  ///< 0 if there is only one.
};
Lower lower_of(char32_t point);

/// The number of bytes of the first extended grapheme cluster of a text (UAX #29), which must not
/// be empty.
std::size_t first_grapheme(std::string_view text);

/// White_Space of Unicode.
bool is_white_space(char32_t point);
/// Marks of all three kinds, as of Unicode 9.
bool is_combining_mark(char32_t point);
/// Nonspacing marks, as of Unicode 8.
bool is_nonspacing_mark(char32_t point);
/// Control, format and private characters, as of Unicode 8.
bool is_control(char32_t point);
/// Punctuation as of Unicode 8, and all symbols of ASCII.
bool is_bert_punctuation(char32_t point);
/// All numbers: decimal digits, letters and others.
bool is_numeric(char32_t point);
/// Characters of words, \w of regular expressions (UTS #18).
bool is_word(char32_t point);

}  // namespace heed::unicode
