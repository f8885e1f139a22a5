// heed's own tokenizer files: what is read, and what is refused.
#include "heed/text/tokenizer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/error_message.h"

namespace heed::tokenizer_file_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  return error_message([&] { parse_tokenizer_file(text, "file").vocabulary(); });
}

TEST(TokenizerFile, ReadsBackWhatItWrites) {
  TokenizerFile file =
      tokenizer_file(TokenizerKind::subword_nmt, Vocabulary({{"a@@", 2}, {"b", 1}}));
  file.joint = "@@";
  file.codes = {"#version: 0.2", "a b"};
  file.threshold = 5;
  const std::string text = tokenizer_text(file);
  EXPECT_THAT(text, StartsWith("{\n  \"heed_tokenizer\": 1,"));
  EXPECT_TRUE(is_tokenizer_text(text));
  const TokenizerFile again = parse_tokenizer_file(text, "file");
  EXPECT_EQ(again.kind, file.kind);
  EXPECT_EQ(again.joint, "@@");
  EXPECT_EQ(again.codes, file.codes);
  EXPECT_EQ(again.threshold, 5);
  EXPECT_EQ(again.vocabulary(), file.vocabulary());
  EXPECT_EQ(again.vocabulary().count(4), 2);
}

TEST(TokenizerFile, LargeVocabulariesAreReadBack) {
  std::vector<TokenCount> words;
  for (int i = 0; i < 1'100'000; ++i) words.push_back({fmt::format("w{}", i), 1});
  const TokenizerFile file = tokenizer_file(TokenizerKind::words, Vocabulary(std::move(words)));
  const TokenizerFile again = parse_tokenizer_file(tokenizer_text(file), "file");
  EXPECT_EQ(again.tokens, file.tokens);
  EXPECT_EQ(again.counts, file.counts);
}

TEST(TokenizerFile, CountsAreLeftOutWhereNobodyCounted) {
  const TokenizerFile file = tokenizer_file(TokenizerKind::words, Vocabulary({{"a", 0}}));
  EXPECT_TRUE(file.counts.empty());
  EXPECT_EQ(file.vocabulary(), Vocabulary({{"a", 0}}));
}

TEST(TokenizerFile, KnowsItsOwn) {
  EXPECT_TRUE(is_tokenizer_text("{\"heed_tokenizer\": 1}"));
  EXPECT_FALSE(is_tokenizer_text("{\"version\": \"1.0\"}"));
  EXPECT_FALSE(is_tokenizer_text("heed_tokenizer"));
  EXPECT_FALSE(is_tokenizer_text(""));
}

TEST(TokenizerFile, SaysWhatIsWrong) {
  EXPECT_THAT(error_of("{\"heed_tokenizer\": 2}"), HasSubstr("version 2"));
  EXPECT_THAT(error_of("{\"heed_tokenizer\": 1, \"kind\": \"word\"}"),
              AllOf(HasSubstr("file:1:"), HasSubstr("words")));
  EXPECT_THAT(error_of("{\"heed_tokenizer\": 1, \"token\": []}"),
              AllOf(HasSubstr("token"), HasSubstr("tokens")));
  EXPECT_THAT(error_of("{\"heed_tokenizer\": 1, \"tokens\": [\"a\", 3]}"), HasSubstr("tokens[1]"));
  EXPECT_THAT(error_of("{\"heed_tokenizer\": 1, \"tokens\": [\"a\"], \"counts\": [1, 2]}"),
              HasSubstr("2 counts for 1 tokens"));
  EXPECT_THAT(error_of("{\"heed_tokenizer\": 1, \"tokens\": [\"a\", \"a\"]}"), HasSubstr("again"));
  EXPECT_THAT(error_of("{\"heed_tokenizer\": 1"), HasSubstr("[json] file:1:"));
}

}  // namespace
}  // namespace heed::tokenizer_file_test
