// Text as code points: UTF-8 in and out, and what kind of character a code point is. The tables are
// utf8proc's. Texts are UTF-8 in std::string everywhere else; what is not UTF-8 never throws here:
// each bad byte counts as one U+FFFD, and find_invalid() tells where the first one stands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::unicode {

/// What a bad byte is read as.
inline constexpr char32_t kReplacement = 0xFFFD;

/// One code point of a text and the bytes it takes there.
struct CodePoint {
  char32_t value = kReplacement;
  std::size_t bytes = 1;
  bool valid = false;  ///< False for a byte that is no UTF-8; then value is kReplacement.
};

/// The code point at the front of a text that is not empty.
CodePoint front(std::string_view text);

/// The position of the first byte that is not UTF-8 (surrogates and overlong forms are not).
std::optional<std::size_t> find_invalid(std::string_view text);

/// All code points of a text.
std::u32string decode(std::string_view text);

/// Appends one code point as UTF-8; what is none (a surrogate, beyond U+10FFFF) as U+FFFD.
void append(std::string& text, char32_t code_point);

/// Code points as UTF-8.
std::string encode(std::u32string_view code_points);

/// The bytes of each code point, as pieces of the text; a bad byte is a piece of its own.
std::vector<std::string_view> split(std::string_view text);

/// The text with each bad byte replaced by U+FFFD.
std::string make_valid(std::string_view text);

/// The first letter of the general category: what \p{L}, \p{M}, … ask for.
enum class Kind { letter, mark, number, punctuation, symbol, separator, other };

/// The kind of a code point; `other` where none is assigned.
Kind kind_of(char32_t code_point);

inline bool is_letter(char32_t c) { return kind_of(c) == Kind::letter; }
inline bool is_mark(char32_t c) { return kind_of(c) == Kind::mark; }
inline bool is_number(char32_t c) { return kind_of(c) == Kind::number; }
inline bool is_punctuation(char32_t c) { return kind_of(c) == Kind::punctuation; }
inline bool is_symbol(char32_t c) { return kind_of(c) == Kind::symbol; }

/// White space as Python's str.split() and str.strip() see it: Unicode's White_Space and the four
/// separators U+001C to U+001F.
bool is_space(char32_t code_point);

/// The words between white space (is_space).
std::vector<std::string_view> split_words(std::string_view text);

/// Lower case as Python's str.lower() makes it: İ becomes i and a dot above, Σ at the end of a word
/// becomes ς. Bad bytes stay as they are.
std::string lower(std::string_view text);

/// The columns a text takes on a terminal: Chinese and emoji take two each, marks none.
std::size_t width(std::string_view text);

}  // namespace heed::unicode
