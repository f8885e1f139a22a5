// Byte pair encoding; the golden files have whole texts.
#include "heed/text/pipeline/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::bpe_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<Subword> tokens(std::string_view json, std::string_view word) {
  const io::Value value = io::parse_json(json, "f");
  const Bpe model(JsonNode(value, "f", "model"));
  std::vector<Subword> first, second;
  model.tokenize(word, first);
  model.tokenize(word, second);
  EXPECT_EQ(first, second);  // the second comes from the cache
  return first;
}

TEST(Bpe, MergesByRank) {
  constexpr std::string_view kModel =
      R"({"vocab": {"a": 0, "b": 1, "c": 2, "bc": 3, "ab": 4, "abc": 5}, "merges": ["b c", ["a", "b"], "a bc"]})";
  EXPECT_THAT(tokens(kModel, "abcab"), ElementsAre(Subword{5, 0, 3}, Subword{4, 3, 5}));
  EXPECT_THAT(tokens(kModel, "axb"), ElementsAre(Subword{4, 0, 2}));  // x vanishes
}

TEST(Bpe, LongWordsAreMergedTheSameWay) {
  // aa first, then pairs of pairs: the leftmost pair of the lowest rank.
  constexpr std::string_view kModel =
      R"({"vocab": {"a": 0, "aa": 1, "aaaa": 2, "b": 3, "ab": 4}, "merges": ["a a", "aa aa", "a b"]})";
  const std::string unit = "aaaaab";
  std::string word;
  for (int i = 0; i < 30; ++i) word += unit;
  std::vector<Subword> expected;
  for (std::uint32_t i = 0; i < 30; ++i) {
    expected.push_back({2, i * 6, i * 6 + 4});
    expected.push_back({4, i * 6 + 4, i * 6 + 6});
  }
  EXPECT_EQ(tokens(kModel, word), expected);
  EXPECT_THAT(tokens(kModel, unit), ElementsAre(Subword{2, 0, 4}, Subword{4, 4, 6}));
}

TEST(Bpe, UnknownCharactersMayBeFused) {
  EXPECT_THAT(tokens(R"({"vocab": {"a": 0, "?": 1}, "merges": [], "unk_token": "?"})", "axy狗"),
              ElementsAre(Subword{0, 0, 1}, Subword{1, 1, 2}, Subword{1, 2, 3}, Subword{1, 3, 6}));
  EXPECT_THAT(
      tokens(R"({"vocab": {"a": 0, "?": 1}, "merges": [], "unk_token": "?", "fuse_unk": true})",
             "axy狗"),
      ElementsAre(Subword{0, 0, 1}, Subword{1, 1, 6}));
}

TEST(Bpe, PrefixesAndSuffixesMarkWords) {
  EXPECT_THAT(
      tokens(
          R"({"vocab": {"a": 0, "##b": 1, "ab": 2}, "merges": ["a ##b"], "continuing_subword_prefix": "##"})",
          "ab"),
      ElementsAre(Subword{2, 0, 2}));
  EXPECT_THAT(
      tokens(R"({"vocab": {"a": 0, "b</w>": 1}, "merges": [], "end_of_word_suffix": "</w>"})",
             "ab"),
      ElementsAre(Subword{0, 0, 1}, Subword{1, 1, 2}));
}

TEST(Bpe, WholeWordsMayComeFirst) {
  EXPECT_THAT(tokens(R"({"vocab": {"a": 0, "aa": 1}, "merges": [], "ignore_merges": true})", "aa"),
              ElementsAre(Subword{1, 0, 2}));
}

TEST(Bpe, ErrorsNameTheMerge) {
  const auto error = [](std::string_view merges) {
    return error_message(
        [&] { tokens(fmt::format(R"({{"vocab": {{"a": 0}}, "merges": {}}})", merges), "a"); });
  };
  EXPECT_THAT(error(R"(["a"])"), HasSubstr("f: model.merges[0] is the string \"a\""));
  EXPECT_THAT(error(R"(["a b"])"),
              HasSubstr("f: model.merges[0]: model.vocab lacks the token \"b\""));
  EXPECT_THAT(error(R"(["a a"])"), HasSubstr("lacks the token \"aa\""));
  EXPECT_THAT(error(R"([["a"]])"), HasSubstr("a pair of tokens"));
  EXPECT_THAT(
      error_message([] { tokens(R"({"vocab": {"a": 0}, "merges": [], "unk_token": "u"})", "a"); }),
      HasSubstr("model.unk_token is \"u\", which model.vocab lacks"));
}

}  // namespace
}  // namespace heed::pipeline::bpe_test
