// Numbers before lines, and words as ids.
#include "heed/data/question_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/text/characters.h"
#include "heed/text/words.h"
#include "tests/support/error_message.h"

namespace heed::question_text_test {
namespace {

TEST(QuestionText, NumbersOfLines) {
  EXPECT_EQ(line_number(" 12\t"), 12);
  for (const char* text : {"", " ", "0", "-1", "1.", "1 2", "x", "99999999999999999999"}) {
    EXPECT_FALSE(line_number(text)) << text;
  }
  EXPECT_EQ(trimmed(" a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
}

TEST(QuestionText, WordsAreTokens) {
  TokenCounter counter;
  for (const char* word : {"b", "b", "a"}) counter.add(word);
  const Words words(counter.vocabulary());
  check_words(words);
  const std::vector<std::string> text = {"a", "</s>", "c", "b"};
  const std::int32_t unknown = words.special().unknown;
  EXPECT_THAT(word_ids(words, text), testing::ElementsAre(5, unknown, unknown, 4));
  EXPECT_TRUE(word_ids(words, {}).empty());
  const Characters characters(count_characters("ab"));
  EXPECT_THAT(error_message([&] { check_words(characters); }),
              testing::HasSubstr("must be a list of words"));
}

}  // namespace
}  // namespace heed::question_text_test
