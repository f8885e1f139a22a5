// WordPiece and WordLevel; the golden files have whole texts.
#include "heed/text/pipeline/word_piece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::word_piece_test {
namespace {

using testing::ElementsAre;

template <typename Model>
std::vector<Subword> tokens(std::string_view json, std::string_view word) {
  const io::Value value = io::parse_json(json, "f");
  const Model model(JsonNode(value, "f", "model"));
  std::vector<Subword> out;
  model.tokenize(word, out);
  return out;
}

constexpr std::string_view kModel =
    R"({"vocab": {"[UNK]": 0, "un": 1, "##aff": 2, "##able": 3, "##a": 4, "una": 5},
        "max_input_chars_per_word": 12})";

TEST(WordPiece, TakesTheLongestFirst) {
  EXPECT_THAT(tokens<WordPiece>(kModel, "unaffable"), ElementsAre(Subword{0, 0, 9}));  // una + ff…
  EXPECT_THAT(tokens<WordPiece>(kModel, "unable"), ElementsAre(Subword{0, 0, 6}));
  EXPECT_THAT(tokens<WordPiece>(kModel, "unaable"),
              ElementsAre(Subword{5, 0, 3}, Subword{3, 3, 7}));
  EXPECT_THAT(tokens<WordPiece>(kModel, "unaaaaaaaaaaa"),
              ElementsAre(Subword{0, 0, 13}));  // too long
  EXPECT_THAT(tokens<WordPiece>(kModel, "狗"), ElementsAre(Subword{0, 0, 3}));
}

TEST(WordLevel, KnowsWholeWords) {
  constexpr std::string_view kWords = R"({"vocab": {"<unk>": 0, "dog": 1}, "unk_token": "<unk>"})";
  EXPECT_THAT(tokens<WordLevel>(kWords, "dog"), ElementsAre(Subword{1, 0, 3}));
  EXPECT_THAT(tokens<WordLevel>(kWords, "cat"), ElementsAre(Subword{0, 0, 3}));
  EXPECT_THAT(error_message([] { tokens<WordLevel>(R"({"vocab": {"dog": 1}})", "cat"); }),
              testing::HasSubstr("the word \"cat\" is not in the vocabulary"));
}

}  // namespace
}  // namespace heed::pipeline::word_piece_test
