// Tense and mood in both languages.
#include "heed/data/grammar/predicate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/grammar/say.h"

namespace heed::grammar {
namespace {

using testing::IsSupersetOf;

const Verb& kBuy = kVerbs[0];

std::string say(const Predicate& p) {
  return fmt::format("{}|{} = {}|{}{}|{}", english(p.helper), english(p.verb), chinese(p.before),
                     chinese(p.main), chinese(p.aspect), chinese(p.ending));
}

std::string say(Tense tense, Mood mood, Agreement agreement = Agreement::third) {
  Speaker speaker(1, 1);
  return say(predicate(speaker, kBuy, agreement, tense, mood));
}

TEST(Predicate, OfThePast) {
  EXPECT_EQ(say(Tense::past, Mood::statement), "|bought = |买了|");
  EXPECT_EQ(say(Tense::past, Mood::negation), "did not|buy = 没|买|");
  EXPECT_EQ(say(Tense::past, Mood::question), "did|buy = |买了|吗");
}

TEST(Predicate, OfTheFuture) {
  EXPECT_EQ(say(Tense::future, Mood::statement), "will|buy = 会|买|");
  EXPECT_EQ(say(Tense::future, Mood::negation), "will not|buy = 不会|买|");
  EXPECT_EQ(say(Tense::future, Mood::question), "will|buy = 会|买|吗");
}

TEST(Predicate, OfHabit) {
  EXPECT_EQ(say(Tense::habit, Mood::statement), "|buys = |买|");
  EXPECT_EQ(say(Tense::habit, Mood::statement, Agreement::first), "|buy = |买|");
  EXPECT_EQ(say(Tense::habit, Mood::negation), "does not|buy = 不|买|");
  EXPECT_EQ(say(Tense::habit, Mood::question, Agreement::plural), "do|buy = |买|吗");
}

TEST(Predicate, OfNow) {
  EXPECT_EQ(say(Tense::now, Mood::statement, Agreement::first), "am|buying = 正|买|");
  EXPECT_EQ(say(Tense::now, Mood::question), "is|buying = 正|买|吗");
}

TEST(Predicate, OfWish) {
  std::set<std::string> all;
  for (int i = 0; i < 100; ++i) {
    for (const Mood mood : {Mood::statement, Mood::negation, Mood::question}) {
      Speaker speaker(1, i);
      all.insert(say(predicate(speaker, kBuy, Agreement::third, Tense::modal, mood)));
    }
  }
  EXPECT_THAT(all, IsSupersetOf({"|wants to buy = 想|买|", "does not|want to buy = 不想|买|",
                                 "does|plan to buy = 打算|买|吗", "can|buy = 可以|买|",
                                 "cannot|buy = 不能|买|", "should not|buy = 不应该|买|",
                                 "should|buy = 应该|买|吗"}));
  EXPECT_EQ(all.size(), 12u);
}

}  // namespace
}  // namespace heed::grammar
