// Unicode code points: conversion from and to UTF-8, and character classes (utf8proc's tables).
// Everywhere else text is UTF-8 in std::string. Invalid UTF-8 never throws here: each bad byte is
// read as one U+FFFD, and find_invalid() returns the position of the first one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::unicode {

/// The code point that a bad byte is read as.
inline constexpr char32_t kReplacement = 0xFFFD;

/// One code point of a text and its number of bytes.
struct CodePoint {
  char32_t value = kReplacement;
  std::size_t bytes = 1;
  bool valid = false;  ///< False for a byte that is not UTF-8; then value is kReplacement.
};

namespace detail {
CodePoint front_of_many(std::string_view text);
}

/// The first code point of a text, which must not be empty. ASCII is decoded inline: most text is.
inline CodePoint front(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x80 ? CodePoint{first, 1, true} : detail::front_of_many(text);
}

/// The position of the first byte that is not valid UTF-8 (surrogates and overlong forms are
/// invalid).
std::optional<std::size_t> find_invalid(std::string_view text);

/// All code points of a text.
std::u32string decode(std::string_view text);

/// Appends one code point as UTF-8. An invalid one (a surrogate, or beyond U+10FFFF) becomes
/// U+FFFD.
void append(std::string& text, char32_t code_point);

/// Code points as UTF-8.
std::string encode(std::u32string_view code_points);

/// The bytes of each code point, as views into the text; a bad byte is a separate piece.
std::vector<std::string_view> split(std::string_view text);

/// The text with each bad byte replaced by U+FFFD.
std::string make_valid(std::string_view text);

/// The first letter of the general category, as in \p{L}, \p{M}, ….
enum class Kind { letter, mark, number, punctuation, symbol, separator, other };

/// The kind of a code point; `other` if it is unassigned.
Kind kind_of(char32_t code_point);

inline bool is_letter(char32_t c) { return kind_of(c) == Kind::letter; }
inline bool is_mark(char32_t c) { return kind_of(c) == Kind::mark; }
inline bool is_number(char32_t c) { return kind_of(c) == Kind::number; }
inline bool is_punctuation(char32_t c) { return kind_of(c) == Kind::punctuation; }
inline bool is_symbol(char32_t c) { return kind_of(c) == Kind::symbol; }

/// White space as defined by Python's str.split() and str.strip(): Unicode's White_Space and the
/// four separators U+001C to U+001F.
bool is_space(char32_t code_point);

/// The words between white space (is_space).
std::vector<std::string_view> split_words(std::string_view text);

/// Lower case as in Python's str.lower(): İ becomes i and a dot above, Σ at the end of a word
/// becomes ς. Bad bytes are unchanged.
std::string lower(std::string_view text);

/// The number of columns of a text on a terminal: Chinese characters and emoji take two, marks
/// none.
std::size_t width(std::string_view text);

}  // namespace heed::unicode
