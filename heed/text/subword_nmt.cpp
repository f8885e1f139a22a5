#include "heed/text/subword_nmt.h"

#include <algorithm>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/lines.h"
#include "heed/text/tokenizer_file.h"
#include "heed/text/words.h"

namespace heed {
namespace {

constexpr std::size_t kMaxCodesBytes = std::size_t{256} << 20;

// Calls f with each word of a text. Only spaces separate words, as in subword-nmt; other white
// space was handled when the text was tokenized.
template <typename F>
void for_each_word(std::string_view text, F f) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Calls f with each part, with the separator added to all but the last.
template <typename F>
void for_each_token(const std::vector<std::string_view>& parts, std::string_view separator, F f) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    f(i + 1 < parts.size() ? fmt::format("{}{}", parts[i], separator) : std::string(parts[i]));
  }
}

}  // namespace

void SubwordNmtOptions::validate() const {
  HEED_CHECK(!separator.empty() && separator.find_first_of(" \t\r\n") == separator.npos,
             "[subword_nmt] the separator must be a mark without white space, such as \"@@\"");
}

SubwordNmt::SubwordNmt(BpeCodes codes, Vocabulary vocabulary, SubwordNmtOptions options)
    : VocabularyTokenizer(std::move(vocabulary), options.separator),
      codes_(std::move(codes)),
      options_(std::move(options)) {
  options_.validate();
}

std::vector<std::string_view> SubwordNmt::parts_of(std::string_view word) const {
  if (!options_.threshold) return codes_.segment(word);
  return codes_.segment(word, [&](std::string_view part, bool is_last) {
    const std::string token = fmt::format("{}{}", part, is_last ? "" : options_.separator);
    return vocabulary().contains(token) &&
           vocabulary().count(vocabulary().id_of(token)) >= *options_.threshold;
  });
}

std::vector<std::string> SubwordNmt::cut(std::string_view text) const {
  std::vector<std::string> tokens;
  for_each_word(text, [&](std::string_view word) {
    for_each_token(parts_of(word), options_.separator,
                   [&](std::string token) { tokens.push_back(std::move(token)); });
  });
  return tokens;
}

std::vector<std::int32_t> SubwordNmt::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  for (const std::string& token : cut(text)) ids.push_back(vocabulary().id_of(token));
  return ids;
}

std::vector<Tokenizer::File> SubwordNmt::files() const {
  TokenizerFile file = tokenizer_file(TokenizerKind::subword_nmt, vocabulary());
  file.joint = options_.separator;
  file.threshold = options_.threshold;
  file.codes = codes_.lines();
  return {{"tokenizer.heed.json", tokenizer_text(file)}};
}

BpeCodes load_bpe_codes(const std::filesystem::path& path) {
  return BpeCodes::parse(io::read_input(path, kMaxCodesBytes), path.string());
}

Vocabulary count_subwords(std::span<const std::filesystem::path> paths, const BpeCodes& codes,
                          const VocabularyOptions& options, std::string_view separator) {
  TokenCounter counter;
  for (const std::filesystem::path& path : paths) {
    io::LineReader reader(path);
    for (std::string line; reader.next(line);) {
      for_each_word(line, [&](std::string_view word) {
        for_each_token(codes.segment(word), separator,
                       [&](const std::string& token) { counter.add(token); });
      });
    }
  }
  return counter.vocabulary(options);
}

}  // namespace heed
