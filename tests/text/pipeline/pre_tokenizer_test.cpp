// Pre-tokenizers: the parts are those of the package.
#include "heed/text/pipeline/pre_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"
#include "tests/text/pipeline/golden_tokenizers.h"

namespace heed::pipeline::pre_tokenizer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(std::string_view json, std::string_view text) {
  const io::Value value = io::parse_json(json, "f");
  Pieces pieces;
  const AlignedText all = AlignedText::of(text);
  pieces.add(all, 0, all.text.size());
  read_pre_tokenizer(JsonNode(value, "f"))->split(pieces);
  std::vector<std::string> made;
  for (const Piece& piece : pieces.pieces) made.emplace_back(pieces.text(piece));
  return made;
}

TEST(PreTokenizer, PartsAreThoseOfThePackage) { test::expect_golden_file("splits"); }

TEST(PreTokenizer, SplitsText) {
  EXPECT_THAT(words(R"({"type": "ByteLevel", "add_prefix_space": true})", "I've 2狗"),
              ElementsAre("ĠI", "'ve", "Ġ2", "çĭĹ"));
  EXPECT_THAT(
      words(R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})", "a b"),
      ElementsAre("aĠb"));
  EXPECT_THAT(
      words(R"({"type": "Metaspace", "replacement": "▁", "add_prefix_space": true})", "a  b"),
      ElementsAre("▁a", "▁", "▁b"));
  EXPECT_THAT(
      words(
          R"({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never", "split": false})",
          "a b"),
      ElementsAre("a▁b"));
  EXPECT_THAT(words(R"({"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
                      {"type": "Digits", "individual_digits": true}]})",
                    "a1 23"),
              ElementsAre("a", "1", "2", "3"));
}

TEST(PreTokenizer, AddedTokensStayWhole) {
  const io::Value value = io::parse_json(R"({"type": "ByteLevel"})", "f");
  Pieces pieces;
  pieces.add(AlignedText::of("a b"), 0, 3, 5);
  read_pre_tokenizer(JsonNode(value, "f"))->split(pieces);
  ASSERT_EQ(pieces.pieces.size(), 1u);
  EXPECT_EQ(pieces.text(pieces.pieces[0]), "a b");
}

TEST(PreTokenizer, ErrorsNameThePath) {
  const auto error = [](std::string_view json) { return error_message([&] { words(json, "a"); }); };
  EXPECT_THAT(error(R"({"type": "Foo"})"), HasSubstr("f: type is the string \"Foo\""));
  EXPECT_THAT(error(R"({"type": "Metaspace", "replacement": "ab"})"), HasSubstr("one character"));
  EXPECT_THAT(error(R"({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated"})"),
              HasSubstr("f: pattern.Regex: the expression \"(\" is not valid"));
}

}  // namespace
}  // namespace heed::pipeline::pre_tokenizer_test
