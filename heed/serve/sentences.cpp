#include "heed/serve/sentences.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/text/unicode.h"
#include "heed/text/unicode_forms.h"

namespace heed::serve {
namespace {

using Points = std::u32string_view;

constexpr std::size_t kLongestAbbreviation = 8;  // with the brackets before it

bool is_end(char32_t c) { return c == '.' || c == '!' || c == '?' || c == U'…'; }
bool is_wide_end(char32_t c) { return c == U'。' || c == U'！' || c == U'？'; }
bool is_closer(char32_t c) { return Points(U"\"')]»”’」』）】").find(c) != Points::npos; }
bool is_line_end(char32_t c) { return c == '\n' || c == '\r' || c == U'\u2028' || c == U'\u2029'; }

bool is_lower_case(char32_t c) {
  const bool has_cases = c < 0x250 || (c >= 0x370 && c < 0x530);  // Latin, Greek, Cyrillic
  return has_cases && unicode::is_letter(c) &&
         unicode::encode({&c, 1}) == unicode::lower(unicode::encode({&c, 1}));
}

// Words before a full stop that does not end a sentence.
bool is_abbreviation(Points word) {
  constexpr std::array<Points, 24> kKnown = {U"mr",  U"mrs", U"ms",  U"dr",   U"prof", U"st",
                                             U"jr",  U"sr",  U"vs",  U"e.g",  U"i.e",  U"cf",
                                             U"fig", U"inc", U"ltd", U"corp", U"mt",   U"nr",
                                             U"ca",  U"z.b", U"bzw", U"u.a",  U"mme",  U"mlle"};
  while (!word.empty() && !unicode::is_letter(word[0])) word.remove_prefix(1);
  if (word.size() > kLongestAbbreviation) return false;
  if (word.size() == 1 && unicode::is_letter(word[0]) && word[0] < 0x530) return true;  // initials
  const std::u32string lower = unicode::decode(unicode::lower(unicode::encode(word)));
  return std::ranges::find(kKnown, Points(lower)) != kKnown.end();
}

// The characters before a full stop, back to white space; one more than an abbreviation may have is
// enough, so that a long line without white space takes no longer than another.
Points word_before(Points line, std::size_t stop) {
  std::size_t begin = stop;
  while (begin > 0 && stop - begin <= kLongestAbbreviation && !unicode::is_space(line[begin - 1])) {
    --begin;
  }
  return line.substr(begin, stop - begin);
}

// The number of characters of the first sentence of a line.
std::size_t sentence_length(Points line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_end(line[i]) && !is_wide_end(line[i])) continue;
    std::size_t end = i + 1;
    while (end < line.size() && (is_end(line[end]) || is_wide_end(line[end]))) ++end;
    const bool is_wide = is_wide_end(line[end - 1]);
    while (end < line.size() && is_closer(line[end])) ++end;
    if (is_wide) return end;
    std::size_t next = end;
    while (next < line.size() && unicode::is_space(line[next])) ++next;
    const bool is_short = line[i] == '.' && end == i + 1 && is_abbreviation(word_before(line, i));
    if (next > end && next < line.size() && !is_lower_case(line[next]) && !is_short) return end;
    i = end - 1;
  }
  return line.size();
}

void add(std::vector<TextPiece>& pieces, Points text, bool is_sentence) {
  if (text.empty()) return;
  if (!is_sentence && !pieces.empty() && !pieces.back().is_sentence) {
    pieces.back().text += unicode::encode(text);
  } else {
    pieces.push_back({unicode::encode(text), is_sentence});
  }
}

}  // namespace

std::vector<TextPiece> split_text(std::string_view text, bool sentences) {
  const std::u32string all = unicode::decode(text);
  Points rest = all;
  std::vector<TextPiece> pieces;
  Points line;  // what is left of the line; each character is looked at once for its end
  while (!rest.empty()) {
    const auto spaces =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, unicode::is_space) - rest.begin());
    add(pieces, rest.substr(0, spaces), false);
    rest.remove_prefix(spaces);
    line.remove_prefix(std::min(spaces, line.size()));
    if (line.empty()) {
      line = rest.substr(
          0, static_cast<std::size_t>(std::ranges::find_if(rest, is_line_end) - rest.begin()));
    }
    std::size_t length = sentences ? sentence_length(line) : line.size();
    const std::size_t taken = length;
    while (length > 0 && unicode::is_space(line[length - 1])) --length;
    add(pieces, line.substr(0, length), true);
    add(pieces, line.substr(length, taken - length), false);
    rest.remove_prefix(taken);
    line.remove_prefix(taken);
  }
  return pieces;
}

}  // namespace heed::serve
