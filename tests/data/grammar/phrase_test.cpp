// Phrases: words with links, and the sentence they become.
#include "heed/data/grammar/phrase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/grammar/say.h"

namespace heed::grammar {
namespace {

TEST(Phrase, SplitsEnglishIntoWords) {
  const Words three = words("the day before", 4);
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[1].text, "day");
  EXPECT_EQ(three[2].links, std::vector<int>{4});
  EXPECT_TRUE(three[0].sure);
  EXPECT_FALSE(weak("of", 1)[0].sure);
  EXPECT_TRUE(words("", 1).empty());
}

TEST(Phrase, ChoosesTheArticle) {
  EXPECT_EQ(english(article(words("apple", 0), 0, true)), "an");
  EXPECT_EQ(english(article(words("red apple", 0), 0, true)), "a");
  EXPECT_EQ(english(article(words("umbrella", 0), 0, true)), "an");
}

TEST(Phrase, BecomesASentenceWithLinks) {
  const Phrase sentence = {
      join(words("tom", 0), words("reads", 1), weak("the", 2), words("books", 2)),
      join(words("汤姆", 0), words("看", 1), words("书", 2))};
  const GrammarPair pair = finish(sentence, '.');
  EXPECT_EQ(pair.english, "Tom reads the books.");
  EXPECT_EQ(pair.chinese, "汤姆看书。");
  EXPECT_EQ(pharaoh(pair.links), "0-0 0-1 1-2 2p3 2p4 3-3 3p4");
}

TEST(Phrase, AsksWithTheMarksOfBothLanguages) {
  const GrammarPair pair = finish({words("who", 0), words("谁", 0)}, '?');
  EXPECT_EQ(pair.english, "Who?");
  EXPECT_EQ(pair.chinese, "谁？");
}

TEST(Phrase, FollowsLinksOfManyPieces) {
  const Phrase sentence = {words("three cups", 7), {{"三个", {7, 8}, true}, {"杯子", {7}, false}}};
  EXPECT_EQ(pharaoh(finish(sentence, '.').links), "0-0 0-1 0p2 0p3 0p4 1-0 1-1 1p2 1p3 1p4");
}

TEST(Phrase, SpeakerRepeatsItself) {
  Speaker a(1, 5), b(1, 5), other(1, 6);
  std::vector<int> first, second, third;
  for (int i = 0; i < 50; ++i) {
    first.push_back(a.between(3, 12));
    second.push_back(b.between(3, 12));
    third.push_back(other.between(3, 12));
  }
  EXPECT_EQ(first, second);
  EXPECT_NE(first, third);
  EXPECT_EQ(std::set<int>(first.begin(), first.end()).size(), 10u);
  EXPECT_NE(a.link(), a.link());
}

TEST(Phrase, KnowsTheSameText) {
  EXPECT_TRUE(same_text(words("my cat", 1), words("my cat", 2)));
  EXPECT_FALSE(same_text(words("my cat", 1), words("my", 1)));
}

}  // namespace
}  // namespace heed::grammar
