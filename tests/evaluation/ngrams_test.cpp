// N-grams: words, counts, matches.
#include "heed/evaluation/ngrams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::evaluation {
namespace {

TEST(Ngrams, WordsAreWhatIsBetweenWhiteSpace) {
  const auto words = split_words(U" a\u3000bc\x1c\u2028 d ");
  ASSERT_EQ(words.size(), 3u);
  EXPECT_TRUE(words[0] == U"a" && words[1] == U"bc" && words[2] == U"d");
  EXPECT_TRUE(split_words(U"").empty());
  EXPECT_TRUE(split_words(U" \t ").empty());
}

TEST(Ngrams, EqualWordsHaveEqualNumbers) {
  WordNumbers numbers;
  const std::u32string first = numbers(split_words(U"a b a"));
  EXPECT_EQ(first[0], first[2]);
  EXPECT_NE(first[0], first[1]);
  EXPECT_EQ(numbers(split_words(U"b"))[0], first[1]);
}

TEST(Ngrams, AreCounted) {
  const std::u32string text = U"abab";
  const NgramCounts pairs = count_ngrams(text, 2);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_TRUE(pairs[0].first == U"ab" && pairs[1].first == U"ba");
  EXPECT_EQ(pairs[0].second, 2);
  EXPECT_EQ(pairs[1].second, 1);
  EXPECT_EQ(total(pairs), 3);
  EXPECT_TRUE(count_ngrams(text, 5).empty());
  EXPECT_EQ(total(count_ngrams(text, 4)), 1);
}

TEST(Ngrams, MatchByTheSmallerCount) {
  const std::u32string a = U"aaab", b = U"aabc";
  EXPECT_EQ(matches(count_ngrams(a, 1), count_ngrams(b, 1)), 3);
  EXPECT_EQ(matches(count_ngrams(a, 2), count_ngrams(b, 2)), 2);
  EXPECT_EQ(matches(count_ngrams(a, 1), {}), 0);
}

TEST(Ngrams, JoinByTheLargerCount) {
  const std::u32string a = U"aaab", b = U"abbc";
  const NgramCounts both = larger_counts(count_ngrams(a, 1), count_ngrams(b, 1));
  ASSERT_EQ(both.size(), 3u);
  EXPECT_EQ(both[0].second, 3);
  EXPECT_EQ(both[1].second, 2);
  EXPECT_EQ(both[2].second, 1);
}

}  // namespace
}  // namespace heed::evaluation
