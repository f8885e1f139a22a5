// Texts with the original place of each byte.
#include "heed/text/pipeline/aligned_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::pipeline::aligned_text_test {
namespace {

using unicode::Change;

TEST(AlignedText, OfATextIsTheTextItself) {
  const AlignedText text = AlignedText::of("a狗", 5);
  EXPECT_EQ(text.text, "a狗");
  EXPECT_THAT(text.spans,
              testing::ElementsAre(TextSpan{5, 6}, TextSpan{6, 9}, TextSpan{6, 9}, TextSpan{6, 9}));
}

TEST(AlignedText, BadBytesBecomeReplacementCharacters) {
  const AlignedText text = AlignedText::of("\xFFz");
  EXPECT_EQ(text.text, "\uFFFDz");
  EXPECT_EQ(text.spans.front(), (TextSpan{0, 1}));
  EXPECT_EQ(text.spans.back(), (TextSpan{1, 2}));
}

TEST(AlignedText, RewritesByChanges) {
  AlignedText text = AlignedText::of("abcd");
  // The first is removed; b becomes xy; c becomes z and takes d with it.
  text.rewrite({{U'x', 0}, {U'y', 1}, {U'z', -1}}, 1);
  EXPECT_EQ(text.text, "xyz");
  EXPECT_THAT(text.spans, testing::ElementsAre(TextSpan{1, 2}, TextSpan{1, 2}, TextSpan{2, 3}));
}

TEST(AlignedText, InsertedAtTheBeginningHasAnEmptySpan) {
  AlignedText text = AlignedText::of("a", 3);
  text.rewrite({{U'x', 1}, {U'a', 0}});
  EXPECT_THAT(text.spans, testing::ElementsAre(TextSpan{3, 3}, TextSpan{3, 4}));
}

TEST(AlignedText, FiltersMapsAndPrepends) {
  AlignedText text = AlignedText::of("aßb");
  text.filter([](char32_t c) { return c != U'a'; });
  EXPECT_EQ(text.text, "ßb");
  text.map([](char32_t c) { return c == 0xDF ? U's' : c; });
  EXPECT_EQ(text.text, "sb");
  EXPECT_THAT(text.spans, testing::ElementsAre(TextSpan{1, 3}, TextSpan{3, 4}));
  text.prepend("__");
  EXPECT_EQ(text.text, "__sb");
  EXPECT_EQ(text.spans.front(), (TextSpan{1, 3}));
  AlignedText empty;
  empty.prepend("x");
  EXPECT_EQ(empty.text, "");
}

TEST(Pieces, SkipEmptyParts) {
  Pieces pieces;
  const AlignedText text = AlignedText::of("ab");
  pieces.add(text, 0, 1);
  pieces.add(text, 1, 1);
  pieces.add(text, 1, 2, 7);
  ASSERT_EQ(pieces.pieces.size(), 2u);
  EXPECT_EQ(pieces.text(pieces.pieces[1]), "b");
  EXPECT_EQ(pieces.pieces[1].token, 7);
  EXPECT_EQ(pieces.span(0, 2), (TextSpan{0, 2}));
}

}  // namespace
}  // namespace heed::pipeline::aligned_text_test
