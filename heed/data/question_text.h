// What the readers of questions share (cloze.h, stories.h): numbers before lines, and words as ids.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/line_check.h"
#include "heed/text/tokenizer.h"

namespace heed {

/// What a line of a file of questions is.
template <typename Question>
struct QuestionStep {
  std::optional<Question> question = {};  ///< None if it is bad, or depends on a line that is.
  std::optional<LineFault> fault = {};
  bool asks = false;  ///< Whether the line is a question.
};

/// The number of a line, from 1, with spaces around it; none: it is not a number.
std::optional<std::int64_t> line_number(std::string_view text);

/// The text without white space at both ends.
std::string_view trimmed(std::string_view text);

/// Throws unless the tokenizer has one token for each word.
void check_words(const Tokenizer& tokenizer);
/// One id for each word, for such a tokenizer.
std::vector<std::int32_t> word_ids(const Tokenizer& tokenizer, std::span<const std::string> words);

}  // namespace heed
