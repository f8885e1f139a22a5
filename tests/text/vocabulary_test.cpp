// Numbers of tokens: where the special ones stand, what text may reach, and who gets a number.
#include "heed/text/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names_of(const Vocabulary& vocabulary) {
  std::vector<std::string> names;
  for (const TokenCount& entry : vocabulary.tokens()) names.push_back(entry.token);
  return names;
}

TEST(Vocabulary, SpecialTokensStandInFront) {
  const Vocabulary vocabulary({{"dog", 7}, {"狗", 2}});
  EXPECT_THAT(names_of(vocabulary), ElementsAre("<unk>", "<s>", "</s>", "<pad>", "dog", "狗"));
  EXPECT_EQ(vocabulary.special(), SpecialTokens{});
  EXPECT_EQ(vocabulary.id_of("狗"), 5);
  EXPECT_EQ(vocabulary.token(4), "dog");
  EXPECT_EQ(vocabulary.count(4), 7);
  EXPECT_EQ(vocabulary.count(0), 0);
  EXPECT_EQ(Vocabulary().size(), 4);
}

TEST(Vocabulary, SpecialTokensKeepTheirPlaces) {
  const Vocabulary vocabulary({{"</s>", 0}, {"<unk>", 0}, {"dog", 0}});
  EXPECT_THAT(names_of(vocabulary), ElementsAre("</s>", "<unk>", "dog", "<s>", "<pad>"));
  EXPECT_EQ(vocabulary.special(),
            (SpecialTokens{.unknown = 1, .begin = 3, .end = 0, .padding = 4}));
  EXPECT_EQ(vocabulary.id_of("cat"), 1);
  EXPECT_TRUE(vocabulary.is_silent(0) && vocabulary.is_silent(3) && vocabulary.is_silent(4));
  EXPECT_FALSE(vocabulary.is_silent(1) || vocabulary.is_silent(2));
}

TEST(Vocabulary, NoTextReachesSpecialTokens) {
  const Vocabulary vocabulary({{"dog", 1}});
  for (const std::string_view name : kSpecialNames) {
    EXPECT_EQ(vocabulary.id_of(name), 0) << name;
    EXPECT_FALSE(vocabulary.contains(name));
  }
  EXPECT_EQ(vocabulary.id_of(""), 0);
  EXPECT_EQ(vocabulary.id_of("\xff"), 0);
}

TEST(Vocabulary, RefusesBadTokensAndNumbers) {
  const auto error_of = [](std::vector<TokenCount> tokens) {
    return error_message([&] { Vocabulary(std::move(tokens)); });
  };
  EXPECT_THAT(error_of({{"a", 1}, {"b", 1}, {"a", 1}}),
              AllOf(HasSubstr("\"a\""), HasSubstr("token 4 and again token 6")));
  EXPECT_THAT(error_of({{"<s>", 1}, {"<s>", 1}}), HasSubstr("<s>"));
  EXPECT_THAT(error_of({{"", 1}}), HasSubstr("empty"));
  EXPECT_THAT(error_of({{"\xff", 1}}), HasSubstr("not UTF-8"));
  for (const int id : {-1, 4}) {
    EXPECT_THAT(error_message([&] { Vocabulary().token(id); }),
                AllOf(HasSubstr(std::to_string(id)), HasSubstr("from 0 to 3")));
  }
}

TokenCounter counted(const std::vector<std::string>& tokens) {
  TokenCounter counter;
  for (const std::string& token : tokens) counter.add(token);
  return counter;
}

TEST(TokenCounter, OrdersByCountThenText) {
  const TokenCounter counter = counted({"b", "c", "a", "c", "é", "B"});
  EXPECT_THAT(names_of(counter.vocabulary()),
              ElementsAre("<unk>", "<s>", "</s>", "<pad>", "c", "B", "a", "b", "é"));
  EXPECT_EQ(counter.vocabulary(), counted({"é", "c", "b", "B", "a", "c"}).vocabulary());
}

TEST(TokenCounter, KeepsTheMostFrequent) {
  const TokenCounter counter = counted({"a", "b", "b", "c", "c", "c"});
  EXPECT_EQ(counter.vocabulary({.size = 6}).size(), 6);
  EXPECT_EQ(counter.vocabulary({.size = 6}).token(5), "b");
  EXPECT_EQ(counter.vocabulary({.size = 100}).size(), 7);
  EXPECT_EQ(counter.vocabulary({.min_count = 2}).size(), 6);
  EXPECT_EQ(counter.vocabulary({.size = 5, .min_count = 2}).size(), 5);
  EXPECT_THAT(error_message([&] { counter.vocabulary({.size = 4}); }), HasSubstr("size of 4"));
}

TEST(TokenCounter, LeavesOutWhatCanBeNoToken) {
  EXPECT_EQ(counted({"<s>", "<unk>", "\xff\xfe", ""}).vocabulary().size(), 4);
}

}  // namespace
}  // namespace heed
