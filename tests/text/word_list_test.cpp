// Word lists as text: plain, counted, and what is wrong with others.
#include "heed/text/word_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/error_message.h"

namespace heed::word_list_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  return error_message([&] { parse_word_list(text, "list"); });
}

TEST(WordList, ReadsPlainAndCounted) {
  const Vocabulary plain = parse_word_list("dog\r\n狗\nwor@@", "list");
  EXPECT_EQ(plain, Vocabulary({{"dog", 0}, {"狗", 0}, {"wor@@", 0}}));
  const Vocabulary counted = parse_word_list("dog 17\n狗\t3\n, 0\n", "list");
  EXPECT_EQ(counted, Vocabulary({{"dog", 17}, {"狗", 3}, {",", 0}}));
  EXPECT_EQ(parse_word_list("<pad> 1 #fairseq:overwrite\ndog 2\n", "list"),
            Vocabulary({{"<pad>", 1}, {"dog", 2}}));
  // Digits are words where no counts are.
  EXPECT_EQ(parse_word_list("1\n2\n", "list"), Vocabulary({{"1", 0}, {"2", 0}}));
}

TEST(WordList, ReadsBackWhatItWrites) {
  const Vocabulary usual({{"dog", 17}, {"狗", 3}});
  EXPECT_EQ(word_list_text(usual, true), "dog 17\n狗 3\n");
  EXPECT_EQ(word_list_text(usual, false), "dog\n狗\n");
  EXPECT_EQ(parse_word_list(word_list_text(usual, true), "list"), usual);
  const Vocabulary other({{"</s>", 0}, {"<unk>", 0}, {"dog", 5}});
  EXPECT_EQ(word_list_text(other, false), "</s>\n<unk>\ndog\n<s>\n<pad>\n");
  EXPECT_EQ(parse_word_list(word_list_text(other, true), "list"), other);
}

TEST(WordList, NoTokenWithSpaceIsWritten) {
  EXPECT_THAT(error_message([] {
                word_list_text(Vocabulary({{"a b", 1}}), false);
              }),
              HasSubstr("\"a b\""));
}

TEST(WordList, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(error_of(""), HasSubstr("list is empty"));
  EXPECT_THAT(error_of("a\n\nb\n"), AllOf(HasSubstr("list:2: "), HasSubstr("empty")));
  EXPECT_THAT(error_of("a\n b\n"), AllOf(HasSubstr("list:2: "), HasSubstr("blank")));
  EXPECT_THAT(error_of("a 1\nb 2\nc\n"), HasSubstr("list:3: "));
  EXPECT_THAT(error_of("a\nb 2\n"), HasSubstr("list:2: "));
  EXPECT_THAT(error_of("a\nb\na\n"), AllOf(HasSubstr("list:3: "), HasSubstr("line 1")));
  EXPECT_THAT(error_of("e n</w>\n"), AllOf(HasSubstr("list:1: "), HasSubstr("BPE codes")));
  EXPECT_THAT(error_of("▁the\t-3.14\n"), AllOf(HasSubstr("list:1: "), HasSubstr(".model")));
  EXPECT_THAT(error_of("a 99999999999999999999\n"), HasSubstr("list:1: "));
  EXPECT_THAT(error_of("a\nb\xff\n"), AllOf(HasSubstr("list:2: "), HasSubstr("byte 3")));
}

}  // namespace
}  // namespace heed::word_list_test
