#include "heed/data/question_text.h"

#include <charconv>

#include "heed/base/error.h"

namespace heed {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::optional<std::int64_t> line_number(std::string_view text) {
  text = trimmed(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return {};
  return number;
}

void check_words(const Tokenizer& tokenizer) {
  HEED_CHECK(tokenizer.kind() == "words",
             "[questions] the vocabulary is of kind \"{}\": questions and answers are words, so it "
             "must be a list of words",
             tokenizer.kind());
}

std::vector<std::int32_t> word_ids(const Tokenizer& tokenizer, std::span<const std::string> words) {
  std::vector<std::int32_t> ids = tokenizer.encode(fmt::format("{}", fmt::join(words, " ")));
  HEED_ASSERT(ids.size() == words.size());
  return ids;
}

}  // namespace heed
