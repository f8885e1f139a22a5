#include "heed/evaluation/bleu_tokenizer.h"

#include <algorithm>
#include <iterator>

#include "heed/base/error.h"
#include "heed/evaluation/rewrite.h"
#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

std::u32string cut_western(std::u32string_view line) {
  return space_around_numbers(space_around(line, is_western_mark));
}

std::u32string tokenize_13a(std::u32string_view line) {
  std::u32string text = replace_all(line, U"<skipped>", U"");
  text = replace_all(text, U"-\n", U"");
  text = replace_all(text, U"\n", U" ");
  text = replace_all(text, U"&quot;", U"\"");
  text = replace_all(text, U"&amp;", U"&");
  text = replace_all(text, U"&lt;", U"<");
  text = replace_all(text, U"&gt;", U">");
  return cut_western(U" " + text + U" ");
}

std::u32string tokenize_intl(std::u32string_view line) {
  const auto no_number = [](char32_t c) { return !unicode::is_number(c); };
  const auto mark = unicode::is_punctuation;
  const std::u32string a = space_pairs(line, no_number, mark, {.between = true, .after = true});
  const std::u32string b = space_pairs(a, mark, no_number, {.before = true, .between = true});
  return space_around(b, unicode::is_symbol);
}

// True for characters that sacreBLEU treats as Chinese. It writes two ranges beyond U+FFFF in a way
// that Python reads as U+2001 to U+2A6D and U+2F81 to U+2FA1; equal scores require the same ranges.
bool is_chinese(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range kRanges[] = {
      {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F},
      {0x3100, 0x312F}, {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5},
      {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F},
      {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [c](const Range& range) { return range.first <= c && c <= range.last; });
}

std::u32string_view strip(std::u32string_view text) {
  while (!text.empty() && unicode::is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && unicode::is_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

std::u32string tokenize(std::u32string_view line, BleuTokenizer tokenizer) {
  switch (tokenizer) {
    case BleuTokenizer::v13a:
      return tokenize_13a(line);
    case BleuTokenizer::intl:
      return tokenize_intl(line);
    case BleuTokenizer::zh:
      return cut_western(space_around(strip(line), is_chinese));
    case BleuTokenizer::character:
      return space_around(line, [](char32_t) { return true; });
    case BleuTokenizer::none:
      return std::u32string(line);
  }
  HEED_ASSERT(false);
  return {};
}

}  // namespace heed::evaluation
