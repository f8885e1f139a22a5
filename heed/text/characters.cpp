#include "heed/text/characters.h"

#include <array>
#include <cstring>
#include <utility>

#include "heed/base/error.h"
#include "heed/io/input.h"
#include "heed/io/value.h"
#include "heed/text/tokenizer_file.h"
#include "heed/text/unicode.h"

namespace heed {
namespace {

bool is_special(const Vocabulary& vocabulary, std::int32_t id) {
  return vocabulary.is_silent(id) || id == vocabulary.special().unknown;
}

}  // namespace

Characters::Characters(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  for (std::int32_t id = 0; id < vocabulary_.size(); ++id) {
    const std::string& token = vocabulary_.token(id);
    HEED_CHECK(is_special(vocabulary_, id) || unicode::front(token).bytes == token.size(),
               "[characters] token {} is {}: each must be one character", id, io::in_quotes(token));
  }
}

std::vector<std::int32_t> Characters::encode(std::string_view text) const {
  std::vector<std::int32_t> ids;
  ids.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = unicode::front(text).bytes;
    ids.push_back(vocabulary_.id_of(text.substr(0, bytes)));
    text.remove_prefix(bytes);
  }
  return ids;
}

std::vector<std::string> Characters::parts(std::string_view text) const {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t bytes = unicode::front(text).bytes;
    all.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return all;
}

std::string Characters::decode_with(std::span<const std::int32_t> ids,
                                    std::span<const std::string> words) const {
  std::string text;
  for (const std::int32_t id : ids) {
    const std::int64_t word = id - size();
    if (word >= 0 && word < std::ssize(words)) {
      text += words[static_cast<std::size_t>(word)];
      continue;
    }
    const std::string& token = vocabulary_.token(id);
    if (id == special().unknown) {
      unicode::append(text, unicode::kReplacement);
    } else if (!vocabulary_.is_silent(id)) {
      text += token;
    }
  }
  return text;
}

std::string Characters::piece(std::int32_t id) const {
  const std::string& token = vocabulary_.token(id);
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShown = {
      {{" ", "␣"}, {"\n", "\\n"}, {"\t", "\\t"}, {"\r", "\\r"}}};
  for (const auto& [blank, shown] : kShown) {
    if (token == blank) return std::string(shown);
  }
  return token;
}

bool Characters::begins_word(std::int32_t id) const {
  return !is_special(vocabulary_, id) &&
         unicode::is_space(unicode::front(vocabulary_.token(id)).value);
}

std::vector<Tokenizer::File> Characters::files() const {
  return {{"tokenizer.heed.json",
           tokenizer_text(tokenizer_file(TokenizerKind::characters, vocabulary_))}};
}

namespace {

// Counts the code points at the start of a text and returns the bytes that are left: the last code
// point may continue in the next block, unless `is_last`.
std::string_view count_front(std::string_view text, bool is_last, TokenCounter& counter) {
  constexpr std::size_t kLongest = 4;
  while (text.size() >= (is_last ? 1 : kLongest)) {
    const std::size_t bytes = unicode::front(text).bytes;
    counter.add(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return text;
}

}  // namespace

Vocabulary count_characters(std::span<const std::filesystem::path> paths,
                            const VocabularyOptions& options) {
  TokenCounter counter;
  for (const std::filesystem::path& path : paths) {
    io::Input input(path);
    std::string block(std::size_t{64} << 10, '\0');
    std::size_t left = 0;
    while (const std::size_t n = input.read(std::span(block).subspan(left))) {
      const std::string_view rest =
          count_front(std::string_view(block).substr(0, left + n), false, counter);
      left = rest.size();
      std::memmove(block.data(), rest.data(), left);
    }
    count_front(std::string_view(block).substr(0, left), true, counter);
  }
  return counter.vocabulary(options);
}

Vocabulary count_characters(std::string_view text, const VocabularyOptions& options) {
  TokenCounter counter;
  count_front(text, true, counter);
  return counter.vocabulary(options);
}

}  // namespace heed
