#include "heed/serve/sentences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace heed::serve {
namespace {

using testing::ElementsAre;

std::vector<std::string> sentences_of(std::string_view text, bool splits = true) {
  std::vector<std::string> found;
  std::string whole;
  for (const TextPiece& piece : split_text(text, splits)) {
    if (piece.is_sentence) found.push_back(piece.text);
    whole += piece.text;
  }
  EXPECT_EQ(whole, text);
  return found;
}

TEST(Sentences, EndAtMarks) {
  EXPECT_THAT(sentences_of("A dog runs. A cat sleeps! Who? Me"),
              ElementsAre("A dog runs.", "A cat sleeps!", "Who?", "Me"));
  EXPECT_THAT(sentences_of("He said \"No.\" Then he left."),
              ElementsAre("He said \"No.\"", "Then he left."));
  EXPECT_THAT(sentences_of("狗在跑。猫在睡！“是吗？”是。"),
              ElementsAre("狗在跑。", "猫在睡！", "“是吗？”", "是。"));
  EXPECT_THAT(sentences_of("Wait... what? Yes."), ElementsAre("Wait... what?", "Yes."));
}

TEST(Sentences, DoNotEndElsewhere) {
  EXPECT_THAT(sentences_of("Mr. Smith and J. R. Doe paid 3.50 e.g. Monday."),
              ElementsAre("Mr. Smith and J. R. Doe paid 3.50 e.g. Monday."));
  EXPECT_THAT(sentences_of("See example.org for more. of it"),
              ElementsAre("See example.org for more. of it"));
}

TEST(Sentences, LinesAlwaysEndOne) {
  EXPECT_THAT(sentences_of("  one\ntwo \r\n\n three "), ElementsAre("one", "two", "three"));
  EXPECT_THAT(sentences_of("One. Two.\nThree.", false), ElementsAre("One. Two.", "Three."));
  EXPECT_THAT(sentences_of(" \n "), ElementsAre());
  EXPECT_THAT(sentences_of(""), ElementsAre());
}

// A text of a megabyte must not occupy the server: with time that grows as the square of the
// length, each of these takes minutes.
TEST(Sentences, TakeTimeInProportionToTheText) {
  const std::clock_t began = std::clock();
  for (const std::string_view part : {"Aa. ", "a.", "A.a!", "e.g.", ". ", "a\n"}) {
    std::string text;
    while (text.size() < 1 << 20) text += part;
    EXPECT_GE(sentences_of(text).size(), 1u);
  }
  EXPECT_LT(std::clock() - began, 20 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace heed::serve
