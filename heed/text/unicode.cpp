#include "heed/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace heed::unicode {
namespace {

utf8proc_int32_t signed_code(char32_t code_point) {
  return static_cast<utf8proc_int32_t>(code_point);
}

// Case_Ignorable code points (Unicode Standard, 3.13), including punctuation that may be inside a
// word.
bool is_case_ignorable(char32_t c) {
  static constexpr std::array<char32_t, 17> kInsideWords = {
      U'\'',  U'.',   U':',   0x00B7, 0x0387, 0x055F, 0x05F4, 0x2018, 0x2019,
      0x2024, 0x2027, 0xFE13, 0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A};
  switch (utf8proc_category(signed_code(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return std::find(kInsideWords.begin(), kInsideWords.end(), c) != kInsideWords.end();
  }
}

bool is_cased(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(signed_code(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

// True if the sigma at `at` ends a word: there is a cased letter before it and none after it.
bool ends_word(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

}  // namespace

CodePoint detail::front_of_many(std::string_view text) {
  utf8proc_int32_t value = 0;
  const utf8proc_ssize_t bytes = utf8proc_iterate(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4)), &value);
  if (bytes <= 0) return {};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(bytes), true};
}

std::optional<std::size_t> find_invalid(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = front(text.substr(at));
    if (!point.valid) return at;
    at += point.bytes;
  }
  return std::nullopt;
}

std::u32string decode(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = front(text);
    points += point.value;
    text.remove_prefix(point.bytes);
  }
  return points;
}

void append(std::string& text, char32_t code_point) {
  if (!utf8proc_codepoint_valid(signed_code(code_point))) code_point = kReplacement;
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto n =
      static_cast<std::size_t>(utf8proc_encode_char(signed_code(code_point), bytes.data()));
  text.append(reinterpret_cast<const char*>(bytes.data()), n);
}

std::string encode(std::u32string_view code_points) {
  std::string text;
  for (const char32_t c : code_points) append(text, c);
  return text;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t bytes = front(text).bytes;
    pieces.push_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return pieces;
}

std::string make_valid(std::string_view text) {
  const std::optional<std::size_t> bad = find_invalid(text);
  if (!bad) return std::string(text);
  return std::string(text.substr(0, *bad)) + encode(decode(text.substr(*bad)));
}

Kind kind_of(char32_t code_point) {
  switch (utf8proc_category_string(signed_code(code_point))[0]) {
    case 'L':
      return Kind::letter;
    case 'M':
      return Kind::mark;
    case 'N':
      return Kind::number;
    case 'P':
      return Kind::punctuation;
    case 'S':
      return Kind::symbol;
    case 'Z':
      return Kind::separator;
    default:
      return Kind::other;
  }
}

bool is_space(char32_t c) {
  if (c <= 0x20) return (c >= 0x09 && c <= 0x0D) || c >= 0x1C;
  return c == 0x85 || kind_of(c) == Kind::separator;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const bool at_end = at == text.size();
    const CodePoint point = at_end ? CodePoint{U' ', 1, true} : front(text.substr(at));
    if (is_space(point.value)) {
      if (at > begin) words.push_back(text.substr(begin, at - begin));
      begin = at + point.bytes;
    }
    at += point.bytes;
  }
  return words;
}

std::string lower(std::string_view text) {
  constexpr char32_t kDottedI = 0x130, kDotAbove = 0x307, kSigma = 0x3A3, kFinalSigma = 0x3C2;
  const std::u32string points = decode(text);
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0, byte = 0; i < points.size(); ++i) {
    const CodePoint point = front(text.substr(byte));
    if (!point.valid) {
      result += text[byte];
    } else if (point.value == kDottedI) {
      append(result, U'i');
      append(result, kDotAbove);
    } else if (point.value == kSigma && ends_word(points, i)) {
      append(result, kFinalSigma);
    } else {
      append(result, static_cast<char32_t>(utf8proc_tolower(signed_code(point.value))));
    }
    byte += point.bytes;
  }
  return result;
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  for (const char32_t c : decode(text)) {
    columns += static_cast<std::size_t>(std::max(0, utf8proc_charwidth(signed_code(c))));
  }
  return columns;
}

}  // namespace heed::unicode
