// Rewriting steps: once through the text, never over what was written.
#include "heed/evaluation/rewrite.h"

#include <gtest/gtest.h>

namespace heed::evaluation {
namespace {

TEST(Rewrite, ReplacesWithoutLookingBack) {
  EXPECT_TRUE(replace_all(U"aXXXb", U"XX", U"X") == U"aXXb");
  EXPECT_TRUE(replace_all(U"", U"X", U"y").empty());
  EXPECT_TRUE(replace_all(U"XX", U"X", U"").empty());
}

TEST(Rewrite, SpacesCharactersAndPairs) {
  const auto dot = [](char32_t c) { return c == U'.'; };
  const auto any = [](char32_t) { return true; };
  EXPECT_TRUE(space_around(U"a.b", dot) == U"a . b");
  EXPECT_TRUE(space_pairs(U"a..", any, dot, {.between = true}) ==
              U"a ..");  // the second has no partner
  EXPECT_TRUE(space_pairs(U"a.", any, dot, {.before = true, .after = true}) == U" a. ");
}

TEST(Rewrite, KnowsNumbers) {
  EXPECT_TRUE(space_around_numbers(U"1.5 a.b 7-8") == U"1.5 a  .  b 7 - 8");
}

}  // namespace
}  // namespace heed::evaluation
