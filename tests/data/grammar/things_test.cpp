// Noun phrases: measure words, numbers, the order of adjectives.
#include "heed/data/grammar/things.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/grammar/say.h"

namespace heed::grammar::things_test {
namespace {

using testing::IsSupersetOf;

const Noun& noun(std::string_view singular) {
  for (const Noun& each : kThings) {
    if (each.singular == singular) return each;
  }
  ADD_FAILURE() << singular;
  return kThings[0];
}

template <typename Make>
std::set<std::string> many(const Make& make) {
  std::set<std::string> all;
  for (int i = 0; i < 4000; ++i) {
    Speaker speaker(1, i);
    all.insert(both(make(speaker).phrase));
  }
  return all;
}

TEST(Things, AreCountedWithTheirMeasureWord) {
  const auto books = many([](Speaker& s) { return counted(s, noun("book")); });
  EXPECT_THAT(books,
              IsSupersetOf({"a book = 一本书", "two books = 两本书", "twelve books = 十二本书",
                            "an old book = 一本旧书", "three interesting books = 三本有趣的书"}));
  const auto cups = many([](Speaker& s) { return counted(s, noun("tea")); });
  EXPECT_THAT(cups, IsSupersetOf({"a cup of tea = 一杯茶", "two cups of tea = 两杯茶"}));
}

TEST(Things, HaveTheirMeasureWordBehindEveryNumber) {
  for (const Noun& each : kThings) {
    for (int i = 0; i < 50; ++i) {
      Speaker speaker(6, i);
      const Thing thing = counted(speaker, each);
      EXPECT_EQ(thing.phrase.chinese[1].text, each.measure) << both(thing.phrase);
      EXPECT_EQ(thing.phrase.chinese.back().text, each.chinese);
    }
  }
}

TEST(Things, PutChineseAdjectivesInChineseOrder) {
  const auto all = many([](Speaker& s) { return counted(s, noun("umbrella"), 3); });
  EXPECT_THAT(all, IsSupersetOf({"three red umbrellas = 三把红色的雨伞",
                                 "three small umbrellas = 三把小雨伞",
                                 "three small red umbrellas = 三把红色的小雨伞",
                                 "three beautiful new umbrellas = 三把漂亮的新雨伞",
                                 "three beautiful red umbrellas = 三把漂亮的红色雨伞"}));
}

TEST(Things, ArePointedAt) {
  const auto cats = many([](Speaker& s) { return pointed(s, noun("cat")); });
  EXPECT_THAT(cats, IsSupersetOf({"this cat = 这只猫", "those cats = 那些猫",
                                  "these two cats = 这两只猫", "that white cat = 那只白色的猫"}));
  const auto tea = many([](Speaker& s) { return pointed(s, noun("tea")); });
  EXPECT_THAT(tea, IsSupersetOf({"this cup of tea = 这杯茶", "those two cups of tea = 那两杯茶"}));
}

TEST(Things, AreOwned) {
  const auto hats = many([](Speaker& s) { return owned(s, noun("hat")); });
  EXPECT_THAT(hats,
              IsSupersetOf({"my hat = 我的帽子", "his hats = 他的帽子",
                            "Tom's red hat = 汤姆的红色帽子", "my beautiful hat = 我漂亮的帽子"}));
}

TEST(Things, AreAnyOrHowMany) {
  EXPECT_THAT(many([](Speaker& s) { return bare(s, noun("knife")); }),
              IsSupersetOf({"knives = 刀", "new knives = 新刀"}));
  EXPECT_THAT(many([](Speaker& s) { return bare(s, noun("milk")); }),
              IsSupersetOf({"milk = 牛奶"}));
  EXPECT_THAT(many([](Speaker& s) { return how_many(s, noun("car")); }),
              IsSupersetOf({"how many cars = 多少辆汽车", "how many red cars = 多少辆红色的汽车"}));
}

TEST(Things, FitTheirVerb) {
  for (int i = 0; i < 500; ++i) {
    Speaker speaker(8, i);
    EXPECT_NE(any_noun(speaker, kEaten | kDrunk).kinds & (kEaten | kDrunk), 0u);
    EXPECT_EQ(any_noun(speaker, kPerson).kinds, Kinds{kPerson});
  }
  EXPECT_THAT(many([](Speaker& s) { return any_object(s, kSung); }),
              IsSupersetOf({"a song = 一首歌", "songs = 歌", "this song = 这首歌"}));
}

}  // namespace
}  // namespace heed::grammar::things_test
