#include "heed/text/unicode_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "heed/text/unicode.h"

namespace heed::unicode {
namespace {

struct PointRange {
  char32_t first, last;
};

// Marks that came with Unicode 10 to 15.
constexpr std::array kMarksAfter9 = std::to_array<PointRange>(
    {{0x7FD, 0x7FD},     {0x898, 0x89F},     {0x8CA, 0x8D3},     {0x9FE, 0x9FE},
     {0xAFA, 0xAFF},     {0xB55, 0xB55},     {0xC04, 0xC04},     {0xC3C, 0xC3C},
     {0xCF3, 0xCF3},     {0xD00, 0xD00},     {0xD3B, 0xD3C},     {0xD81, 0xD81},
     {0xEBA, 0xEBA},     {0xECE, 0xECE},     {0x1715, 0x1715},   {0x180F, 0x180F},
     {0x1ABF, 0x1ACE},   {0x1CF7, 0x1CF7},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},
     {0xA8FF, 0xA8FF},   {0x10D24, 0x10D27}, {0x10EAB, 0x10EAC}, {0x10EFC, 0x10EFF},
     {0x10F46, 0x10F50}, {0x10F82, 0x10F85}, {0x11070, 0x11070}, {0x11073, 0x11074},
     {0x110C2, 0x110C2}, {0x11145, 0x11146}, {0x111C9, 0x111C9}, {0x111CE, 0x111CF},
     {0x11241, 0x11241}, {0x1133B, 0x1133B}, {0x1145E, 0x1145E}, {0x1182C, 0x1183A},
     {0x11930, 0x11935}, {0x11937, 0x11938}, {0x1193B, 0x1193E}, {0x11940, 0x11940},
     {0x11942, 0x11943}, {0x119D1, 0x119D7}, {0x119DA, 0x119E0}, {0x119E4, 0x119E4},
     {0x11A01, 0x11A0A}, {0x11A33, 0x11A39}, {0x11A3B, 0x11A3E}, {0x11A47, 0x11A47},
     {0x11A51, 0x11A5B}, {0x11A8A, 0x11A99}, {0x11D31, 0x11D36}, {0x11D3A, 0x11D3A},
     {0x11D3C, 0x11D3D}, {0x11D3F, 0x11D45}, {0x11D47, 0x11D47}, {0x11D8A, 0x11D8E},
     {0x11D90, 0x11D91}, {0x11D93, 0x11D97}, {0x11EF3, 0x11EF6}, {0x11F00, 0x11F03},
     {0x11F34, 0x11F42}, {0x13440, 0x13440}, {0x13447, 0x13455}, {0x16F4F, 0x16F4F},
     {0x16F7F, 0x16F87}, {0x16FE4, 0x16FE4}, {0x16FF0, 0x16FF1}, {0x1CF00, 0x1CF2D},
     {0x1CF30, 0x1CF46}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2AE},
     {0x1E2EC, 0x1E2EF}, {0x1E4EC, 0x1E4EF}});

// Nonspacing marks that came with Unicode 9.
constexpr std::array kMarksOf9 = std::to_array<PointRange>(
    {{0x8D4, 0x8E1},     {0x1885, 0x1886},   {0x1DFB, 0x1DFB},   {0xA8C5, 0xA8C5},
     {0xA9BD, 0xA9BD},   {0x1123E, 0x1123E}, {0x11438, 0x1143F}, {0x11442, 0x11444},
     {0x11446, 0x11446}, {0x11C30, 0x11C36}, {0x11C38, 0x11C3D}, {0x11C3F, 0x11C3F},
     {0x11C92, 0x11CA7}, {0x11CAA, 0x11CB0}, {0x11CB2, 0x11CB3}, {0x11CB5, 0x11CB6},
     {0x1E000, 0x1E006}, {0x1E008, 0x1E018}, {0x1E01B, 0x1E021}, {0x1E023, 0x1E024},
     {0x1E026, 0x1E02A}, {0x1E944, 0x1E94A}});

// Punctuation that came after Unicode 8.
constexpr std::array kPunctuationAfter8 = std::to_array<PointRange>(
    {{0x61D, 0x61D},     {0x9FD, 0x9FD},     {0xA76, 0xA76},     {0xC77, 0xC77},
     {0xC84, 0xC84},     {0x1B7D, 0x1B7E},   {0x2E43, 0x2E4F},   {0x2E52, 0x2E5D},
     {0x10EAD, 0x10EAD}, {0x10F55, 0x10F59}, {0x10F86, 0x10F89}, {0x1144B, 0x1144F},
     {0x1145A, 0x1145B}, {0x1145D, 0x1145D}, {0x11660, 0x1166C}, {0x116B9, 0x116B9},
     {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2}, {0x11A3F, 0x11A46},
     {0x11A9A, 0x11A9C}, {0x11A9E, 0x11AA2}, {0x11B00, 0x11B09}, {0x11C41, 0x11C45},
     {0x11C70, 0x11C71}, {0x11EF7, 0x11EF8}, {0x11F43, 0x11F4F}, {0x11FFF, 0x11FFF},
     {0x12FF1, 0x12FF2}, {0x16E97, 0x16E9A}, {0x16FE2, 0x16FE2}, {0x1E95E, 0x1E95F}});

// Decompositions that came after Unicode 9.
constexpr std::array kDecomposedAfter9 = std::to_array<PointRange>({{0x32FF, 0x32FF},
                                                                    {0xA7F2, 0xA7F4},
                                                                    {0xAB69, 0xAB69},
                                                                    {0x10781, 0x107BA},
                                                                    {0x11938, 0x11938},
                                                                    {0x1E030, 0x1E06D},
                                                                    {0x1F16C, 0x1F16C},
                                                                    {0x1FBF0, 0x1FBF9}});

// Numbers that came with Unicode 16 and 17, which utf8proc may not know.
constexpr std::array kNumbersAfter15 = std::to_array<PointRange>({{0x10D40, 0x10D49},
                                                                  {0x116D0, 0x116E3},
                                                                  {0x11BF0, 0x11BF9},
                                                                  {0x11DE0, 0x11DE9},
                                                                  {0x16130, 0x16139},
                                                                  {0x16D70, 0x16D79},
                                                                  {0x16FF4, 0x16FF6},
                                                                  {0x1CCF0, 0x1CCF9},
                                                                  {0x1E5F1, 0x1E5FA}});

bool is_in(std::span<const PointRange> ranges, char32_t point) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), point,
                                      [](char32_t p, const PointRange& r) { return p < r.first; });
  return after != ranges.begin() && point <= std::prev(after)->last;
}

utf8proc_category_t category_of(char32_t point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(point));
}

int combining_class(char32_t point) {
  if (point < 0x300 || is_in(kMarksAfter9, point)) return 0;
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(point))->combining_class;
}

// One character and its combining class, before composition.
struct Decomposed {
  Change change;
  int order = 0;
};

void decompose(char32_t point, bool compatible, std::vector<Decomposed>& out) {
  if (point < 0xA0 || is_in(kDecomposedAfter9, point)) {
    out.push_back({{point, 0}, combining_class(point)});
    return;
  }
  std::array<utf8proc_int32_t, 32> parts;
  int last_boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (compatible ? UTF8PROC_COMPAT : 0));
  const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point), parts.data(),
                                         parts.size(), options, &last_boundary);
  if (n <= 0 || n > static_cast<utf8proc_ssize_t>(parts.size())) {
    out.push_back({{point, 0}, combining_class(point)});
    return;
  }
  for (utf8proc_ssize_t i = 0; i < n; ++i) {
    const auto part = static_cast<char32_t>(parts[static_cast<std::size_t>(i)]);
    out.push_back({{part, i == 0 ? 0 : 1}, combining_class(part)});
  }
}

// Sorts each run of marks by their class.
void order_marks(std::vector<Decomposed>& all) {
  for (std::size_t begin = 0; begin < all.size();) {
    if (all[begin].order == 0) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < all.size() && all[end].order != 0) ++end;
    std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(begin),
                     all.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Decomposed& a, const Decomposed& b) { return a.order < b.order; });
    begin = end;
  }
}

std::optional<char32_t> composite(char32_t first, char32_t second) {
  std::array<utf8proc_int32_t, 2> pair = {static_cast<utf8proc_int32_t>(first),
                                          static_cast<utf8proc_int32_t>(second)};
  const auto n = utf8proc_normalize_utf32(
      pair.data(), 2, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const auto made = static_cast<char32_t>(pair[0]);
  if (n != 1 || is_in(kDecomposedAfter9, made)) return std::nullopt;
  return made;
}

// Joins each starter with the characters after it that are not blocked.
std::vector<Change> compose(const std::vector<Decomposed>& all) {
  std::vector<Change> out;
  out.reserve(all.size());
  std::optional<std::size_t> starter;  // its place in out
  int last = -1;                       // the class of the last character kept after the starter
  for (const Decomposed& next : all) {
    if (starter && (last < 0 || (last < next.order && next.order != 0))) {
      if (const auto made = composite(out[*starter].point, next.change.point)) {
        // A merged character replaces what both replaced.
        out[*starter] = {*made, out[*starter].change + next.change.change - 1};
        continue;
      }
    }
    if (next.order == 0) {
      starter = out.size();
      last = -1;
    } else if (starter) {
      last = next.order;
    }
    out.push_back(next.change);
  }
  return out;
}

}  // namespace

std::vector<Change> normal_form(std::string_view text, Form form) {
  const bool compatible = form == Form::nfkc || form == Form::nfkd;
  std::vector<Decomposed> all;
  all.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = front(text);
    decompose(point.value, compatible, all);
    text.remove_prefix(point.bytes);
  }
  order_marks(all);
  if (form == Form::nfc || form == Form::nfkc) return compose(all);
  std::vector<Change> out;
  out.reserve(all.size());
  for (const Decomposed& part : all) out.push_back(part.change);
  return out;
}

Lower lower_of(char32_t point) {
  if (point < 0x80) return {point >= U'A' && point <= U'Z' ? point + 32 : point};
  if (point == 0x130) return {U'i', 0x307};
  return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(point)))};
}

std::size_t first_grapheme(std::string_view text) {
  const CodePoint first = front(text);
  std::size_t bytes = first.bytes;
  utf8proc_int32_t state = 0;
  auto before = static_cast<utf8proc_int32_t>(first.value);
  while (bytes < text.size()) {
    const CodePoint next = front(text.substr(bytes));
    const auto value = static_cast<utf8proc_int32_t>(next.value);
    if (utf8proc_grapheme_break_stateful(before, value, &state)) break;
    bytes += next.bytes;
    before = value;
  }
  return bytes;
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == U' ' || (c >= 0x09 && c <= 0x0D);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_combining_mark(char32_t c) {
  if (c < 0x300) return false;
  // 1CF2 and 1CF3 were marks until Unicode 12.
  if (c == 0x1CF2 || c == 0x1CF3) return true;
  return kind_of(c) == Kind::mark && !is_in(kMarksAfter9, c);
}

bool is_nonspacing_mark(char32_t c) {
  if (c < 0x300) return false;
  // 1734 was one until Unicode 14.
  if (c == 0x1734) return true;
  return category_of(c) == UTF8PROC_CATEGORY_MN && !is_in(kMarksAfter9, c) && !is_in(kMarksOf9, c);
}

bool is_control(char32_t c) {
  if (c < 0x20 || c == 0x7F) return true;
  if (c < 0x7F) return false;
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CO:
      return true;
    case UTF8PROC_CATEGORY_CF:
      return c != 0x890 && c != 0x891 && c != 0x8E2 && c != 0x110CD &&
             !(c >= 0x13430 && c <= 0x1343F);
    default:
      return false;
  }
}

bool is_bert_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  }
  if (c == 0x166D || c == 0x111C9) return true;  // punctuation until Unicode 12
  return kind_of(c) == Kind::punctuation && !is_in(kPunctuationAfter8, c);
}

bool is_numeric(char32_t c) {
  if (c < 0x80) return c >= U'0' && c <= U'9';
  return kind_of(c) == Kind::number || is_in(kNumbersAfter15, c);
}

bool is_word(char32_t c) {
  if (c < 0x80) {
    return (c >= U'0' && c <= U'9') || (c >= U'A' && c <= U'Z') || (c >= U'a' && c <= U'z') ||
           c == U'_';
  }
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      break;
  }
  const Kind kind = kind_of(c);
  // Symbols that Unicode calls alphabetic, and the joiners.
  return kind == Kind::letter || kind == Kind::mark || c == 0x200C || c == 0x200D ||
         (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

}  // namespace heed::unicode
