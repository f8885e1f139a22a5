#include "heed/base/wildcard.h"

#include <gtest/gtest.h>

#include <string>

namespace heed {
namespace {

TEST(Wildcard, StandsForAnyText) {
  EXPECT_TRUE(matches_wildcard("a.b", "a.b"));
  EXPECT_FALSE(matches_wildcard("a.b", "a.bc"));
  EXPECT_FALSE(matches_wildcard("a.b", "a"));
  EXPECT_TRUE(matches_wildcard("*", ""));
  EXPECT_TRUE(matches_wildcard("", ""));
  EXPECT_FALSE(matches_wildcard("", "a"));
  EXPECT_TRUE(matches_wildcard("h.*.attn.bias", "h.12.attn.bias"));
  EXPECT_FALSE(matches_wildcard("h.*.attn.bias", "h.12.attn.bias.x"));
  EXPECT_TRUE(matches_wildcard("*attn*", "layers.0.self_attn.q_proj"));
  EXPECT_TRUE(matches_wildcard("*.b.*.b", "a.b.b.c.b"));
  EXPECT_TRUE(matches_wildcard("a**", "a"));
  EXPECT_FALSE(matches_wildcard("*a*b", "b.a"));
}

TEST(Wildcard, ManyStarsTakeNoLongTime) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(matches_wildcard(pattern + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace heed
