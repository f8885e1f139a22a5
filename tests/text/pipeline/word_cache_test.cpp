// The cache of words.
#include "heed/text/pipeline/word_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::pipeline::word_cache_test {
namespace {

TEST(WordCache, RemembersWords) {
  const WordCache cache;
  std::vector<Subword> out;
  EXPECT_FALSE(cache.find("dog", out));
  const std::vector<Subword> tokens = {{1, 0, 1}, {2, 1, 3}};
  cache.add("dog", tokens.data(), tokens.data() + tokens.size());
  EXPECT_TRUE(cache.find("dog", out));
  EXPECT_EQ(out, tokens);
}

TEST(WordCache, DoesNotGrowForever) {
  const WordCache cache;
  const Subword token;
  for (int i = 0; i < 200'000; ++i) cache.add(std::to_string(i), &token, &token + 1);
  int known = 0;
  std::vector<Subword> out;
  for (int i = 0; i < 200'000; ++i) known += cache.find(std::to_string(i), out) ? 1 : 0;
  EXPECT_GT(known, 0);
  EXPECT_LT(known, 100'000);
  const std::string longest(1000, 'a');
  cache.add(longest, &token, &token + 1);
  EXPECT_FALSE(cache.find(longest, out));
}

}  // namespace
}  // namespace heed::pipeline::word_cache_test
