// Token streams: what follows what, random and sequential blocks, the split, the file.
#include "heed/data/token_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "heed/data/batch.h"
#include "heed/io/file.h"
#include "tests/data/letters.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TokenStream counting(int n) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(n));
  std::iota(tokens.begin(), tokens.end(), 0);
  return TokenStream(std::move(tokens));
}

std::vector<std::int64_t> values(const Tensor& x) { return x.to_vector<std::int64_t>(); }

std::vector<std::int32_t> all_tokens(const TokenStream& stream) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(stream.size()));
  stream.read(0, tokens);
  return tokens;
}

TEST(TokenStream, DrawsBlocksAndWhatFollows) {
  const TokenStream stream = counting(50);
  const TokenBlocks blocks = stream.random_blocks({.rows = 40, .length = 8}, 3, 17);
  EXPECT_EQ(blocks.tokens.shape(), (Shape{40, 8}));
  EXPECT_EQ(blocks.count, 320);
  const auto given = values(blocks.tokens), expected = values(blocks.expected);
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(expected[i], given[i] + 1);
    if (i % 8 != 0) {
      EXPECT_EQ(given[i], given[i - 1] + 1);
    }
  }
}

TEST(TokenStream, DrawsByUpdate) {
  const TokenStream stream = counting(10000);
  const auto draw = [&](std::uint64_t seed, std::int64_t update) {
    return values(stream.random_blocks({.rows = 4, .length = 3}, seed, update).tokens);
  };
  EXPECT_EQ(draw(1, 5), draw(1, 5));
  EXPECT_NE(draw(1, 5), draw(1, 6));
  EXPECT_NE(draw(1, 5), draw(2, 5));
}

TEST(TokenStream, DrawsFromEveryPlace) {
  const TokenStream stream = counting(6);  // blocks of 3 begin at 0, 1 or 2
  std::set<std::int64_t> begins;
  for (int update = 0; update < 100; ++update) {
    begins.insert(values(stream.random_blocks({.rows = 1, .length = 3}, 1, update).tokens)[0]);
  }
  EXPECT_THAT(begins, ElementsAre(0, 1, 2));
}

TEST(TokenStream, DrawsPlacesBeyondFourBillion) {
  const RandomStream random{3, 1};
  constexpr std::int64_t kMany = std::int64_t{5} << 40;
  double sum = 0.0;
  bool has_odd = false;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::int64_t place = random_place(random, i, kMany);
    ASSERT_GE(place, 0);
    ASSERT_LT(place, kMany);
    sum += static_cast<double>(place) / static_cast<double>(kMany);
    has_odd = has_odd || place % 2 == 1;
    EXPECT_EQ(random_place(random, i, 1000), random.below(i, 1000)) << "as before";
  }
  EXPECT_NEAR(sum / 1000.0, 0.5, 0.05);
  EXPECT_TRUE(has_odd) << "the lower bits are random";
}

TEST(TokenStream, DrawsFromMultiplesOfTheLength) {
  const TokenStream stream = counting(11);  // blocks of 3 begin at 0, 3 or 6
  std::set<std::int64_t> begins;
  for (int update = 0; update < 100; ++update) {
    const TokenBlocks blocks =
        stream.random_blocks({.rows = 1, .length = 3, .aligned = true}, 1, update);
    EXPECT_EQ(blocks.count, 3);
    begins.insert(values(blocks.tokens)[0]);
  }
  EXPECT_THAT(begins, ElementsAre(0, 3, 6));
}

TEST(TokenStream, IsCutWithoutOverlap) {
  const TokenStream stream = counting(9);
  ASSERT_EQ(stream.block_count(3), 3);
  const TokenBlocks first = stream.blocks({.rows = 2, .length = 3}, 0);
  EXPECT_THAT(values(first.tokens), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(values(first.expected), ElementsAre(1, 2, 3, 4, 5, 6));
  const TokenBlocks rest = stream.blocks({.rows = 2, .length = 3}, 2);
  EXPECT_EQ(rest.tokens.shape(), (Shape{1, 3}));
  EXPECT_THAT(values(rest.tokens), ElementsAre(6, 7, 0));
  EXPECT_THAT(values(rest.expected), ElementsAre(7, 8, kIgnored));
  EXPECT_EQ(first.count + rest.count, 8) << "every token but the first, once";
}

TEST(TokenStream, CountsBlocksAtTheEdges) {
  EXPECT_EQ(counting(0).block_count(3), 0);
  EXPECT_EQ(counting(1).block_count(3), 0);
  EXPECT_EQ(counting(2).block_count(3), 1);
  EXPECT_EQ(counting(4).block_count(3), 1);
  EXPECT_EQ(counting(5).block_count(3), 2);
}

TEST(TokenStream, SplitsByShare) {
  const auto [training, validation] = counting(101).split(0.1);
  EXPECT_EQ(training.size(), 90);
  EXPECT_EQ(validation.size(), 11);
  EXPECT_EQ(all_tokens(validation)[0], 90);
  EXPECT_EQ(counting(5).split(0.0).second.size(), 0);
}

TEST(TokenStream, ReadsLinesWithTheirEnds) {
  const TempDir folder;
  io::write_file(folder / "text", "ab\n\nc\n");
  const test::Letters letters;
  EXPECT_EQ(letters.decode(all_tokens(read_tokens(folder / "text", letters))), "ab\n\nc\n");
  const TokenStream ended = read_tokens(folder / "text", letters, {.end_lines = true});
  EXPECT_THAT(all_tokens(ended), ElementsAre('a' + 4, 'b' + 4, 2, 2, 'c' + 4, 2));
}

TEST(TokenStream, RefusesBadTextAndSizes) {
  const TempDir folder;
  io::write_file(folder / "text", "ab\n\xFF\nc\n");
  EXPECT_THAT(error_message([&] { read_tokens(folder / "text", test::Letters()); }),
              HasSubstr("text:2 has broken UTF-8"));
  const TokenStream rest = read_tokens(folder / "text", test::Letters(), {.on_bad = OnBad::skip});
  EXPECT_EQ(rest.size(), 5);
  EXPECT_THAT(error_message([] { counting(4).random_blocks({.rows = 1, .length = 4}, 1, 0); }),
              HasSubstr("blocks of 4 tokens from a text of 4"));
  EXPECT_THAT(error_message([] { counting(4).blocks({.rows = 0, .length = 4}, 0); }),
              HasSubstr("blocks of 0 rows"));
  EXPECT_THAT(error_message([] { counting(4).blocks({.rows = 1, .length = 4}, 1); }),
              HasSubstr("block 1 of 1"));
  EXPECT_THAT(error_message([] { counting(4).split(1.5); }), HasSubstr("share is 1.5"));
}

TEST(TokenStream, SplitsTinyShakespeareAsNanoGptDoes) {
  const auto path = test::shared_data("tinyshakespeare/input.txt.gz");
  HEED_NEED_SHARED_DATA(path);
  const TokenStream stream = read_tokens(path, test::Letters());
  EXPECT_EQ(stream.size(), 1115394);
  const auto [training, validation] = stream.split(0.1);
  EXPECT_EQ(training.size(), 1003854);
  EXPECT_EQ(validation.size(), 111540);
}

}  // namespace
}  // namespace heed
