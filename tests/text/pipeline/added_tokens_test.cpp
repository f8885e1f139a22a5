// Added tokens; the golden file of words has whole texts.
#include "heed/text/pipeline/added_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "tests/support/error_message.h"

namespace heed::pipeline::added_tokens_test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kTokens =
    R"([{"id": 9, "content": "<m>", "special": true, "lstrip": true, "rstrip": true},
        {"id": 1, "content": "dog", "single_word": true},
        {"id": 0, "content": "<m><m>", "special": true},
        {"id": 0, "content": "a"}])";

AddedTokens made() {
  const io::Value value = io::parse_json(kTokens, "f");
  TokenTable model;
  model.add("a", 0);
  model.add("b", 1);
  return AddedTokens(JsonNode(value, "f", "added_tokens"), model, nullptr);
}

std::vector<std::string> parts(std::string_view text) {
  const Pieces pieces = made().split(text, nullptr);
  std::vector<std::string> all;
  for (const Piece& piece : pieces.pieces)
    all.push_back(fmt::format("{}:{}", pieces.text(piece), piece.token));
  return all;
}

TEST(AddedTokens, TakeTheNextIdsUnlessTheModelHasThem) {
  const AddedTokens tokens = made();
  EXPECT_EQ(tokens.id_of("<m>"), 2);
  EXPECT_EQ(tokens.id_of("dog"), 3);
  EXPECT_EQ(tokens.id_of("a"), 0);
  EXPECT_EQ(tokens.limit(), 5);
  EXPECT_TRUE(tokens.is_special(2));
  EXPECT_FALSE(tokens.is_special(3));
  EXPECT_EQ(tokens.find(1), nullptr);
}

TEST(AddedTokens, AreFoundLongestFirst) {
  EXPECT_THAT(parts("x <m> y"), ElementsAre("x:-1", " <m> :2", "y:-1"));
  EXPECT_THAT(parts("<m><m>"), ElementsAre("<m><m>:4"));
  EXPECT_THAT(parts("dog dogs, dog"), ElementsAre("dog:3", " dogs, :-1", "dog:3"));
  EXPECT_THAT(parts("  <m>  <m>  "), ElementsAre("  <m>  :2", "<m>  :2"));
  EXPECT_THAT(parts(""), ElementsAre());
}

}  // namespace
}  // namespace heed::pipeline::added_tokens_test
