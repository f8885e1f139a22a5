// The text of tokens as they come: the pieces join to the whole, and none cuts a character.
#include "heed/text/decode_stream.h"

#include <gtest/gtest.h>

#include <ctime>

#include "heed/text/characters.h"
#include "heed/text/sentence_piece_training.h"
#include "heed/text/unicode.h"
#include "heed/text/words.h"

namespace heed {
namespace {

// Checks that the pieces are the whole, and how many of them are not empty.
std::size_t expect_joined(const Tokenizer& tokenizer, const std::vector<std::int32_t>& tokens) {
  DecodeStream stream(tokenizer);
  std::string joined;
  std::size_t pieces = 0;
  for (const std::int32_t token : tokens) {
    const std::string piece = stream.add(token);
    EXPECT_FALSE(unicode::find_invalid(piece)) << piece;
    pieces += piece.empty() ? 0 : 1;
    joined += piece;
  }
  joined += stream.finish();
  EXPECT_EQ(joined, tokenizer.decode(tokens));
  return pieces;
}

TEST(DecodeStream, GivesCharactersOneByOne) {
  const Characters tokenizer(count_characters("ab 狗\n"));
  EXPECT_EQ(expect_joined(tokenizer, tokenizer.encode("狗 ab\n\nba")), 8u);
}

TEST(DecodeStream, GivesSpacesBetweenWords) {
  TokenCounter counter;
  for (const char* const word : {"a", "dog", "ru@@", "ns"}) counter.add(word);
  const Words tokenizer(counter.vocabulary(), "@@");
  EXPECT_GE(expect_joined(tokenizer, tokenizer.encode("a dog ru@@ ns a dog")), 5u);
}

TEST(DecodeStream, HoldsBackHalfACharacter) {
  const std::vector<std::string> sentences(50, "a dog runs and a cat sleeps");
  const auto tokenizer = parse_tokenizer(
      train_sentence_piece(sentences, {.size = 275, .byte_fallback = true}), "trained");
  const std::vector<std::int32_t> tokens = tokenizer->encode("a 狗 runs 🐕");
  ASSERT_EQ(tokenizer->decode(tokens), "a 狗 runs 🐕") << "made of bytes";
  EXPECT_LT(expect_joined(*tokenizer, tokens), tokens.size());
  const std::vector<std::int32_t> cut(tokens.begin(), tokens.end() - 1);
  expect_joined(*tokenizer, cut);
}

TEST(DecodeStream, SilentTokensSayNothing) {
  const Characters tokenizer(count_characters("ab"));
  const SpecialTokens special = tokenizer.special();
  EXPECT_EQ(expect_joined(tokenizer, {special.begin, 4, special.end, 5, special.end}), 2u);
  expect_joined(tokenizer, {});
}

TEST(DecodeStream, AnUnknownTokenComesOutInTheEnd) {
  const Characters tokenizer(count_characters("ab"));
  expect_joined(tokenizer, tokenizer.encode("axb"));
  expect_joined(tokenizer, tokenizer.encode("abx"));
}

// With time that grows as the square of the number of tokens, each takes minutes.
TEST(DecodeStream, TakesConstantTimeForAToken) {
  const Characters tokenizer(count_characters("ab\uFFFD"));
  const std::clock_t began = std::clock();
  for (const std::int32_t token : {tokenizer.special().end, tokenizer.encode("\uFFFD").at(0)}) {
    DecodeStream stream(tokenizer);
    for (int i = 0; i < 300000; ++i) stream.add(token);
    EXPECT_EQ(stream.add(tokenizer.encode("a").at(0)).back(), 'a');
  }
  EXPECT_LT(std::clock() - began, 20 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace heed
