// Tokenizers of tokenizer.json: ids, offsets and texts are those of the package `tokenizers`,
// errors name the path, and the file of a tokenizer gives the same tokenizer again.
#include "heed/text/pipeline/hf_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/support/error_message.h"
#include "tests/text/pipeline/golden_tokenizers.h"

namespace heed::hf_tokenizer_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kSmall =
    R"({"added_tokens": [{"id": 0, "content": "<unk>", "special": true},
                         {"id": 3, "content": "</s>", "special": true}],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "dog": 2, "</s>": 3},
                  "unk_token": "<unk>"}})";

std::unique_ptr<HfTokenizer> small(std::string_view from = "", std::string_view to = "") {
  std::string text(kSmall);
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  return HfTokenizer::parse(text, "tokenizer.json");
}

std::string error_of(std::string_view from, std::string_view to) {
  return error_message([&] { small(from, to); });
}

TEST(HfTokenizer, IsThePackageOnByteLevelBpe) { test::expect_golden_file("byte_level"); }
TEST(HfTokenizer, IsThePackageOnBpe) { test::expect_golden_file("bpe"); }
TEST(HfTokenizer, IsThePackageOnWordPiece) { test::expect_golden_file("word_piece"); }
TEST(HfTokenizer, IsThePackageOnUnigram) { test::expect_golden_file("unigram"); }
TEST(HfTokenizer, IsThePackageOnWordLevelAndAddedTokens) { test::expect_golden_file("word_level"); }

TEST(HfTokenizer, EncodesAndDecodes) {
  const auto tokenizer = small();
  EXPECT_THAT(tokenizer->encode("a dog </s>cat"), ElementsAre(1, 2, 3, 0));
  EXPECT_EQ(tokenizer->decode(std::vector<std::int32_t>{1, 2, 3}), "a dog");
  EXPECT_EQ(tokenizer->size(), 4);
  EXPECT_EQ(tokenizer->piece(2), "dog");
  EXPECT_EQ(tokenizer->special(), (SpecialTokens{0, 3, 3, 0}));
  EXPECT_THAT(error_message([&] { tokenizer->decode(std::vector<std::int32_t>{4}); }),
              HasSubstr("there is no token 4"));
}

TEST(HfTokenizer, SpansAreBytesOfTheText) {
  const Encoding encoding = small()->encode_with_spans("a 狗 dog");
  EXPECT_THAT(encoding.ids, ElementsAre(1, 0, 2));
  EXPECT_THAT(encoding.spans, ElementsAre(TextSpan{0, 1}, TextSpan{2, 5}, TextSpan{6, 9}));
}

TEST(HfTokenizer, BytesThatAreNotUtf8AreUnknown) {
  const Encoding encoding = small()->encode_with_spans("a \xFF\xC3 dog");
  EXPECT_THAT(encoding.ids, ElementsAre(1, 0, 2));
  EXPECT_THAT(encoding.spans, ElementsAre(TextSpan{0, 1}, TextSpan{2, 4}, TextSpan{5, 8}));
}

TEST(HfTokenizer, ItsFileGivesItAgain) {
  const auto tokenizer = HfTokenizer::parse(std::string(kSmall), "x", {.begin = "dog"});
  EXPECT_EQ(tokenizer->special().begin, 2);
  const auto again = parse_tokenizer(tokenizer->files()[0].content, "again");
  EXPECT_EQ(again->kind(), "huggingface");
  EXPECT_EQ(again->special(), tokenizer->special());
  EXPECT_EQ(again->encode("a dog"), tokenizer->encode("a dog"));
  EXPECT_EQ(again->files()[0].content, tokenizer->files()[0].content);
}

TEST(HfTokenizer, LoadTokenizerKnowsTokenizerJson) {
  EXPECT_EQ(parse_tokenizer(std::string(kSmall), "tokenizer.json")->kind(), "huggingface");
}

TEST(HfTokenizer, PairsHaveTypes) {
  const io::Value golden = test::read_golden_tokenizers("word_piece");
  const auto bert = HfTokenizer::parse(
      io::write_json(test::member(test::golden_entry(golden, "bert"), "tokenizer"), false), "bert");
  const Encoding pair = bert->encode_pair("the dog", "a");
  EXPECT_EQ(pair.ids.front(), 2);
  EXPECT_EQ(pair.ids.back(), 3);
  EXPECT_EQ(pair.types.front(), 0);
  EXPECT_EQ(pair.types.back(), 1);
  EXPECT_EQ(pair.ids.size(), bert->encode("the dog").size() + bert->encode("a").size() + 3);
  EXPECT_EQ(bert->special(), (SpecialTokens{1, 2, 3, 0}));
}

TEST(HfTokenizer, PutsSpecialTokensAroundAText) {
  const io::Value golden = test::read_golden_tokenizers("word_piece");
  const auto bert = HfTokenizer::parse(
      io::write_json(test::member(test::golden_entry(golden, "bert"), "tokenizer"), false), "bert");
  std::vector<std::int32_t> expected = bert->encode("the dog");
  expected.insert(expected.begin(), 2);
  expected.push_back(3);
  EXPECT_EQ(bert->encode_with_special("the dog"), expected);
  EXPECT_EQ(small()->encode_with_special("a dog"), small()->encode("a dog"));
}

TEST(HfTokenizer, ThreadsMayShareIt) {
  const io::Value golden = test::read_golden_tokenizers("byte_level");
  const io::Value& entry = test::golden_entry(golden, "gpt2");
  const auto tokenizer =
      HfTokenizer::parse(io::write_json(test::member(entry, "tokenizer"), false), "gpt2");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&] { test::expect_golden(*tokenizer, entry, test::member(golden, "lines")); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(HfTokenizer, ErrorsNameThePathAndTheType) {
  EXPECT_THAT(error_of("WhitespaceSplit", "Nonesuch"),
              HasSubstr("tokenizer.json: pre_tokenizer.type is the string \"Nonesuch\": expected a "
                        "pre-tokenizer: Sequence"));
  EXPECT_THAT(error_of("WordLevel", "Morse"), HasSubstr("model.type is the string \"Morse\""));
  EXPECT_THAT(error_of("\"dog\": 2", "\"dog\": \"2\""),
              HasSubstr("model.vocab.\"dog\" is the string"));
  EXPECT_THAT(error_of("\"dog\": 2", "\"dog\": -2"), HasSubstr("expected an id from 0"));
  EXPECT_THAT(error_of("\"content\": \"</s>\"", "\"content\": 3"),
              HasSubstr("added_tokens[1].content is the integer 3: expected a string"));
  EXPECT_THAT(error_of("\"model\"", "\"mode\""), HasSubstr("tokenizer.json lacks \"model\""));
}

TEST(HfTokenizer, AnUnknownWordWithoutUnknownTokenIsAnError) {
  const auto tokenizer = small("\"<unk>\": 0, ", "\"b\": 0, ");
  EXPECT_THAT(error_message([&] { tokenizer->encode("cat"); }), HasSubstr("unknown token"));
}

}  // namespace
}  // namespace heed::hf_tokenizer_test
