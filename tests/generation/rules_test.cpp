// What rules forbid after a prefix.
#include "heed/generation/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using Tokens = std::vector<std::int32_t>;

Tokens banned(const Rule& rule, const Tokens& prefix) {
  Tokens found;
  rule(prefix, found);
  return found;
}

TEST(Rules, BannedTokens) { EXPECT_THAT(banned(ban_tokens({4, 2}), {1}), ElementsAre(4, 2)); }

TEST(Rules, NoEndBeforeTheLength) {
  const Rule rule = require_length(2, {9});
  EXPECT_THAT(banned(require_length(1, {9, 4}), {}), ElementsAre(9, 4));
  EXPECT_THAT(banned(rule, {}), ElementsAre(9));
  EXPECT_THAT(banned(rule, {5}), ElementsAre(9));
  EXPECT_THAT(banned(rule, {5, 5}), IsEmpty());
}

TEST(Rules, NoSequenceTwice) {
  EXPECT_THAT(banned(ban_repeated_ngrams(1), {}), IsEmpty());
  EXPECT_THAT(banned(ban_repeated_ngrams(1), {7, 8}), UnorderedElementsAre(7, 8));
  EXPECT_THAT(banned(ban_repeated_ngrams(2), {7}), IsEmpty());
  EXPECT_THAT(banned(ban_repeated_ngrams(2), {7, 8}), IsEmpty());
  EXPECT_THAT(banned(ban_repeated_ngrams(2), {7, 7}), ElementsAre(7));
  EXPECT_THAT(banned(ban_repeated_ngrams(2), {7, 8, 7, 9, 7}), UnorderedElementsAre(8, 9));
  EXPECT_THAT(banned(ban_repeated_ngrams(3), {7, 8, 9, 8, 7, 8}), ElementsAre(9));
  EXPECT_THAT(banned(ban_repeated_ngrams(3), {7, 8}), IsEmpty());
  EXPECT_EQ(error_message([] { ban_repeated_ngrams(0); }),
            "[rules] sequences of 0 tokens: the least is 1");
}

TEST(Rules, WhatTheRuleAllowsNeverRepeats) {
  for (const std::int64_t n : {1, 2, 3}) {
    const Rule rule = ban_repeated_ngrams(n);
    Tokens all;  // always the lowest token that may follow
    for (std::int32_t token = 0; token < 4;) {
      const Tokens no = banned(rule, all);
      if (std::find(no.begin(), no.end(), token) != no.end()) {
        ++token;
        continue;
      }
      all.push_back(token);
      token = 0;
    }
    EXPECT_GE(std::ssize(all), 4);
    for (auto a = all.begin(); a + n <= all.end(); ++a) {
      for (auto b = a + 1; b + n <= all.end(); ++b) EXPECT_FALSE(std::equal(a, a + n, b));
    }
  }
}

}  // namespace
}  // namespace heed
