// Which rules the options and a vocabulary make.
#include "heed/generation/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Tokens = std::vector<std::int32_t>;

Tokens banned(const SearchPlan& plan, const Tokens& prefix) {
  Tokens found;
  for (const Rule& rule : plan.rules) rule(prefix, found);
  return found;
}

TEST(Plan, SpecialTokensAreNotChosen) {
  const SpecialTokens special{.unknown = 10, .begin = 11, .end = 12, .padding = 13};
  EXPECT_THAT(make_plan({}, special).ends, ElementsAre(12));
  EXPECT_THAT(banned(make_plan({}, special), {}), UnorderedElementsAre(10, 11, 13));
  EXPECT_THAT(banned(make_plan({.allow_unknown = true}, special), {}),
              UnorderedElementsAre(11, 13));
}

TEST(Plan, OneTokenForBeginAndEndMayEnd) {
  const SpecialTokens special{.unknown = 10, .begin = 12, .end = 12, .padding = 12};
  EXPECT_THAT(banned(make_plan({}, special), {}), UnorderedElementsAre(10));
}

TEST(Plan, SeveralTokensMayEnd) {
  const SpecialTokens special{.unknown = 10, .begin = 11, .end = 12, .padding = 13};
  const SearchPlan plan = make_plan({.min_length = 2}, special, {13, 14});
  EXPECT_THAT(plan.ends, ElementsAre(13, 14));
  EXPECT_THAT(banned(plan, {5, 6}), UnorderedElementsAre(10, 11));
  EXPECT_THAT(banned(plan, {5}), UnorderedElementsAre(10, 11, 13, 14));
}

TEST(Plan, LengthsAndRepeats) {
  const SearchPlan plan = make_plan({.min_length = 4, .no_repeat_ngram = 2}, {});
  EXPECT_THAT(banned(plan, {5, 6, 5}), UnorderedElementsAre(0, 1, 3, 2, 6));
  EXPECT_THAT(banned(plan, {5, 6, 7, 5}), UnorderedElementsAre(0, 1, 3, 6));
}

TEST(Plan, PenaltiesChangeScores) {
  EXPECT_TRUE(make_plan({}, {}).changes.empty());
  const Tokens prompt = {1};
  const SearchPlan plan =
      make_plan({.repetition_penalty = 2, .frequency_penalty = 0.5}, {}, {2}, prompt);
  ASSERT_EQ(plan.changes.size(), 2u);
  std::vector<float> scores = {4, 4, -4, 4};
  for (const ScoreChange& change : plan.changes) change(Tokens{2, 0, 2}, scores);
  EXPECT_THAT(scores, ElementsAre(1.5f, 2.0f, -9.0f, 4.0f));
}

TEST(Plan, ChecksTheOptions) {
  EXPECT_THAT(error_message([] { make_plan({.beam_size = 0}, {}); }), HasSubstr("beam_size is 0"));
  EXPECT_THAT(error_message([] { make_plan({}, {}, {}); }), HasSubstr("there is no end token"));
}

}  // namespace
}  // namespace heed
