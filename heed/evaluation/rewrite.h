// Rewriting steps on code points, used by the tokenisers. Each makes one pass over the text from
// left to right and never rereads its own output, like the substitution of a regular expression.
#pragma once

#include <string>
#include <string_view>

namespace heed::evaluation {

inline bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

/// Replaces each occurrence of a piece.
inline std::u32string replace_all(std::u32string_view text, std::u32string_view from,
                                  std::u32string_view to) {
  std::u32string result;
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    result += text.substr(at, found - at);
    if (found == text.npos) return result;
    result += to;
    at = found + from.size();
  }
}

/// Puts a space on both sides of the characters for which `which` is true.
template <typename Which>
std::u32string space_around(std::u32string_view text, Which which) {
  std::u32string result;
  result.reserve(2 * text.size());
  for (const char32_t c : text) {
    if (which(c)) {
      result += {U' ', c, U' '};
    } else {
      result += c;
    }
  }
  return result;
}

/// Where spaces are added to a pair of neighbours.
struct PairSpaces {
  bool before = false;
  bool between = false;
  bool after = false;
};

/// Adds spaces to pairs of neighbours for which `first` and `second` are true; a character is part
/// of at most one pair.
template <typename First, typename Second>
std::u32string space_pairs(std::u32string_view text, First first, Second second,
                           PairSpaces spaces) {
  std::u32string result;
  result.reserve(2 * text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      result += text[i];
      continue;
    }
    if (spaces.before) result += U' ';
    result += text[i];
    if (spaces.between) result += U' ';
    result += text[++i];
    if (spaces.after) result += U' ';
  }
  return result;
}

/// The marks that 13a and TER's normaliser always separate: ASCII without ' , - . and without
/// letters and digits.
inline bool is_western_mark(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') ||
         (c >= U'(' && c <= U'+') || (c >= U':' && c <= U'@') || c == U'/';
}

/// Separates points and commas that are not between digits, and dashes after a digit.
inline std::u32string space_around_numbers(std::u32string_view text) {
  const auto point = [](char32_t c) { return c == U'.' || c == U','; };
  const auto no_digit = [](char32_t c) { return !is_digit(c); };
  const auto dash = [](char32_t c) { return c == U'-'; };
  const std::u32string a = space_pairs(text, no_digit, point, {.between = true, .after = true});
  const std::u32string b = space_pairs(a, point, no_digit, {.before = true, .between = true});
  return space_pairs(b, is_digit, dash, {.between = true, .after = true});
}

}  // namespace heed::evaluation
