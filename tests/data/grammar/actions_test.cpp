// Sentences of doing: where Chinese puts what English says last.
#include "heed/data/grammar/actions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/data/grammar/say.h"

namespace heed::grammar {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Actions, EndQuestionsInBothLanguages) {
  int questions = 0;
  for (int i = 0; i < 5000; ++i) {
    Speaker speaker(1, i);
    const Clause clause = action(speaker);
    const std::string text = both(clause.phrase);
    const bool particle = text.ends_with("吗");
    const bool word =
        text.find("谁") != std::string::npos || text.find("多少") != std::string::npos;
    EXPECT_EQ(clause.mark == '?', particle != word) << text;
    EXPECT_FALSE(particle && word) << text;
    questions += clause.mark == '?';
  }
  EXPECT_GT(questions, 500);
}

// When and where stand after the verb in English and before it in Chinese.
TEST(Actions, PutTimeAndPlaceBeforeTheVerb) {
  int seen = 0;
  for (int i = 0; i < 20000; ++i) {
    Speaker speaker(2, i);
    const Phrase phrase = action(speaker).phrase;
    const std::string english_text = english(phrase.english), text = chinese(phrase.chinese);
    if (!english_text.ends_with("home last week")) continue;
    const std::size_t done = text.find("了");
    if (done == std::string::npos) continue;
    ++seen;
    EXPECT_LT(text.find("上个星期"), text.find("在家")) << text;
    EXPECT_LT(text.find("在家"), done) << text;
  }
  EXPECT_GT(seen, 3);
}

TEST(Actions, DenyThePastWithMeiAndTheRestWithBu) {
  for (int i = 0; i < 5000; ++i) {
    Speaker speaker(3, i);
    const Phrase phrase = action(speaker).phrase;
    const std::string english_text = english(phrase.english), text = chinese(phrase.chinese);
    if (english_text.find("did not") != std::string::npos) {
      EXPECT_THAT(text, HasSubstr("没"));
      EXPECT_THAT(text, Not(HasSubstr("了"))) << "没 and 了 exclude each other";
    } else if (english_text.find("not ") != std::string::npos) {
      EXPECT_THAT(text, HasSubstr("不"));
    }
  }
}

TEST(Actions, GiveKnownThingsWithBa) {
  int ba = 0;
  for (int i = 0; i < 2000; ++i) {
    Speaker speaker(4, i);
    const Phrase phrase = giving(speaker).phrase;
    const std::string english_text = " " + english(phrase.english), text = chinese(phrase.chinese);
    const bool known =
        text.find("把这") != std::string::npos || text.find("把那") != std::string::npos;
    ba += known;
    if (english_text.find(" not ") != std::string::npos) {
      EXPECT_TRUE(known) << text;
    }
  }
  EXPECT_GT(ba, 400);
}

TEST(Actions, TravelByMeansBeforeTheVerb) {
  int trains = 0;
  for (int i = 0; i < 2000; ++i) {
    Speaker speaker(5, i);
    const Phrase phrase = journey(speaker).phrase;
    const std::string text = chinese(phrase.chinese);
    const std::size_t train = text.find("坐火车");
    if (train == std::string::npos) continue;
    ++trains;
    EXPECT_EQ(text.find("去", train), train + std::string("坐火车").size()) << text;
    EXPECT_THAT(english(phrase.english), HasSubstr("by train"));
  }
  EXPECT_GT(trains, 50);
}

TEST(Actions, ShortOnesAreStatements) {
  for (int i = 0; i < 1000; ++i) {
    Speaker speaker(6, i);
    const Clause clause = short_action(speaker);
    EXPECT_EQ(clause.mark, '.');
    EXPECT_LT(clause.phrase.english.size(), 26u);
  }
}

}  // namespace
}  // namespace heed::grammar
