#include "heed/text/word_list.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/value.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

constexpr std::string_view kBlanks = " \t";
// fairseq's mark of words that replace its own special tokens.
constexpr std::string_view kOverwrite = " #fairseq:overwrite";

struct Line {
  std::string_view token;
  std::optional<std::int64_t> count;
  std::string_view rest;  // the text after the token, a count or not
};

Line parse_line(std::string_view line) {
  if (line.ends_with(kOverwrite)) line.remove_suffix(kOverwrite.size());
  const std::size_t blank = line.find_first_of(kBlanks);
  if (blank == line.npos) return {line, {}, {}};
  Line parsed{line.substr(0, blank), {}, line.substr(blank + 1)};
  std::int64_t count = 0;
  const char* const end = parsed.rest.data() + parsed.rest.size();
  const auto [stop, error] = std::from_chars(parsed.rest.data(), end, count);
  if (error == std::errc() && stop == end && count >= 0) parsed.count = count;
  return parsed;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.-+eE") == text.npos;
}

// Throws an error about a line that is neither a token nor a token with its count.
[[noreturn]] void fail_line(const Line& line, std::string_view source, std::size_t number) {
  if (is_number(line.rest)) {
    fail(
        "[word list] {}:{}: {} is not a count: if this file belongs to a SentencePiece model, give "
        "the .model file itself",
        source, number, io::in_quotes(line.rest));
  }
  fail(
      "[word list] {}:{}: {} follows the token {}: a line holds one token, or a token and its "
      "count (if these are BPE codes, they also need a word list: see heed vocab convert)",
      source, number, io::in_quotes(line.rest), io::in_quotes(line.token));
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Vocabulary parse_word_list(std::string_view text, std::string_view source) {
  if (const auto bad = unicode::find_invalid(text)) {
    const auto line =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
    fail("[word list] {}:{}: byte {} of the file is not UTF-8", source, line, *bad);
  }
  std::vector<TokenCount> tokens;
  StringMap<std::size_t> lines_of;
  std::size_t number = 0;
  bool counted = true;
  for (const std::string_view text_line : split_lines(text)) {
    const Line line = parse_line(text_line);
    ++number;
    HEED_CHECK(!line.token.empty(), "[word list] {}:{}: the line {}", source, number,
               text_line.empty() ? "is empty" : "begins with a blank");
    if (number == 1) counted = line.count.has_value();
    if (counted ? !line.count : !line.rest.empty()) fail_line(line, source, number);
    const auto [place, is_new] = lines_of.emplace(line.token, number);
    HEED_CHECK(is_new, "[word list] {}:{}: {} is already in line {}", source, number,
               io::in_quotes(line.token), place->second);
    tokens.push_back({std::string(line.token), line.count.value_or(0)});
  }
  HEED_CHECK(!tokens.empty(), "[word list] {} is empty", source);
  return Vocabulary(std::move(tokens));
}

std::string word_list_text(const Vocabulary& vocabulary, bool with_counts) {
  const bool special_in_front = vocabulary.special() == SpecialTokens{};
  const auto tokens = vocabulary.tokens().subspan(special_in_front ? kSpecialNames.size() : 0);
  std::string text;
  for (const TokenCount& entry : tokens) {
    HEED_CHECK(entry.token.find_first_of(" \t\r\n") == entry.token.npos,
               "[word list] the token {} cannot be written to a list: it contains white space",
               io::in_quotes(entry.token));
    text += entry.token;
    if (with_counts) fmt::format_to(std::back_inserter(text), " {}", entry.count);
    text += '\n';
  }
  return text;
}

}  // namespace heed
