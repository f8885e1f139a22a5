// People: forms, agreement, and not the same one twice.
#include "heed/data/grammar/people.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/grammar/say.h"

namespace heed::grammar::people_test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

std::set<std::string> many(Phrase (*make)(Speaker&)) {
  std::set<std::string> all;
  for (int i = 0; i < 4000; ++i) {
    Speaker speaker(1, i);
    all.insert(both(make(speaker)));
  }
  return all;
}

TEST(People, AreOfEveryKind) {
  const auto all = many([](Speaker& speaker) {
    const Person who = anybody(speaker);
    return Phrase{who.english, who.chinese};
  });
  EXPECT_THAT(
      all, IsSupersetOf({"I = 我", "they = 他们", "Tom = 汤姆", "Li Ming = 李明",
                         "my mother = 我妈妈", "our teacher = 我们的老师", "the doctor = 医生"}));
  EXPECT_THAT(all, Not(Contains("my mother = 我的妈妈")));
}

TEST(People, AgreeWithTheirVerb) {
  for (int i = 0; i < 2000; ++i) {
    Speaker speaker(2, i);
    const Person who = anybody(speaker);
    const std::string name = english(who.english);
    if (name == "I") {
      EXPECT_EQ(be(who.agreement), "am");
      EXPECT_EQ(english(who.object), "me");
    } else if (name == "she") {
      EXPECT_EQ(does(who.agreement), "does");
      EXPECT_EQ(english(who.object), "her");
    } else if (name == "they" || name.starts_with("two ") || name.starts_with("these ")) {
      EXPECT_EQ(be(who.agreement), "are");
      EXPECT_EQ(does(who.agreement), "do");
    }
  }
}

TEST(People, AnotherIsSomebodyElse) {
  for (int i = 0; i < 3000; ++i) {
    Speaker speaker(3, i);
    const Person one = anybody(speaker), other = another(speaker, one);
    EXPECT_NE(chinese(one.chinese), chinese(other.chinese));
    EXPECT_FALSE(one.pronoun && other.pronoun);
  }
}

TEST(People, Own) {
  EXPECT_THAT(many(owner), IsSupersetOf({"my = 我的", "Tom's = 汤姆的", "Wang Fang's = 王芳的"}));
}

}  // namespace
}  // namespace heed::grammar::people_test
