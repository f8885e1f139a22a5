#include "heed/evaluation/ter.h"

#include <algorithm>
#include <limits>

#include "heed/evaluation/edit_rate.h"
#include "heed/evaluation/ngrams.h"
#include "heed/evaluation/rewrite.h"
#include "heed/text/unicode.h"

namespace heed::evaluation {
namespace {

using std::literals::operator""sv;

bool is_asian_mark(char32_t c) {
  static constexpr std::u32string_view kFullWidth = U"．，？：；！＂（）";
  return c == 0x3001 || c == 0x3002 || (c >= 0x3008 && c <= 0x3011) ||
         (c >= 0x3014 && c <= 0x301F) || (c >= 0xFF61 && c <= 0xFF65) || c == 0x30FB ||
         kFullWidth.find(c) != kFullWidth.npos;
}

// True for characters that become separate words. Kana do not: Tercom intends to split them, but
// its patterns, which sacreBLEU keeps, match nothing in a normalised line.
bool is_asian_word(char32_t c) {
  return (c >= 0x2E80 && c <= 0x2EFF) || (c >= 0x31C0 && c <= 0x31EF) ||
         (c >= 0x3200 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE4F) || is_asian_mark(c);
}

std::u32string normalize(std::u32string_view line) {
  std::u32string text = replace_all(line, U"\n-", U"");
  text = replace_all(text, U"\n", U" ");
  text = replace_all(text, U"&quot;", U"\"");
  text = replace_all(text, U"&amp;", U"&");
  text = replace_all(text, U"&lt;", U"<");
  text = replace_all(text, U"&gt;", U">");
  text = space_around(U" " + text + U" ", is_western_mark);
  return space_around_numbers(replace_all(text, U"'s ", U" 's "));
}

template <typename Which>
void remove_all(std::u32string& text, Which which) {
  text.erase(std::remove_if(text.begin(), text.end(), which), text.end());
}

// T is the type of the arithmetic; results that need no division are Python numbers in sacreBLEU.
template <typename T>
Sample edit_rate(std::span<const T> sums) {
  if (sums[1] > 0) return {T{100} * (sums[0] / sums[1]), true};
  return {sums[0] > 0 ? 100.0 : 0.0, false};
}

}  // namespace

std::u32string ter_words(std::string_view line, const TerOptions& options) {
  std::u32string text =
      unicode::decode(options.case_sensitive ? std::string(line) : unicode::lower(line));
  while (!text.empty() && unicode::is_space(text.back())) text.pop_back();
  if (options.normalized && !text.empty()) {
    text = normalize(text);
    if (options.asian_support) text = space_around(text, is_asian_word);
  }
  if (options.no_punct) {
    remove_all(text,
               [](char32_t c) { return U".,?:;!\"()"sv.find(c) != std::u32string_view::npos; });
    if (options.asian_support) remove_all(text, is_asian_mark);
  }
  std::u32string words;
  for (const std::u32string_view word : split_words(text)) {
    if (!words.empty()) words += U' ';
    words += word;
  }
  return words;
}

Statistics Ter::statistics(std::string_view hypothesis,
                           std::span<const std::string> references) const {
  std::vector<std::u32string> texts = {ter_words(hypothesis, options_)};
  // sacreBLEU normalises references twice, which differs from once: "Ann's," becomes "ann's ," and
  // then "ann 's ,".
  for (const std::string& reference : references) {
    texts.push_back(ter_words(unicode::encode(ter_words(reference, options_)), options_));
  }
  WordNumbers numbers;
  const std::u32string ours = numbers(split_words(texts[0]));
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  double lengths = 0;
  for (std::size_t r = 1; r < texts.size(); ++r) {
    const std::u32string theirs = numbers(split_words(texts[r]));
    fewest = std::min(fewest, count_edits(ours, theirs));
    lengths += static_cast<double>(theirs.size());
  }
  return {static_cast<double>(fewest), lengths / static_cast<double>(references.size())};
}

Score Ter::score(std::span<const double> sums) const { return {name(), edit_rate(sums).value, ""}; }

Sample Ter::sample(std::span<const float> sums) const { return edit_rate(sums); }

std::vector<SignatureItem> Ter::signature() const {
  const auto yes = [](bool flag) { return std::string(flag ? "yes" : "no"); };
  return {{"case", "c", options_.case_sensitive ? "mixed" : "lc"},
          {"tok", "t", "tercom"},
          {"norm", "nr", yes(options_.normalized)},
          {"punct", "pn", yes(!options_.no_punct)},
          {"asian", "as", yes(options_.asian_support)}};
}

}  // namespace heed::evaluation
