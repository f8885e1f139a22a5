// Plans of epochs: complete, within the budget, the same again, new in every epoch, little padding.
#include "heed/data/batching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "heed/base/random.h"
#include "heed/io/lines.h"
#include "tests/support/error_message.h"
#include "tests/support/paths.h"

namespace heed::batching_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Lengths like those of sentences: around a middle, the target near the source.
std::vector<PairLength> some_lengths(int n) {
  std::vector<PairLength> lengths;
  for (int i = 0; i < n; ++i) {
    const RandomStream random{9, static_cast<std::uint64_t>(i)};
    const auto source = static_cast<std::int32_t>(2 + random.below(0, 15) + random.below(1, 15));
    lengths.push_back({source, std::max(1, source - 3 + static_cast<int>(random.below(2, 7)))});
  }
  return lengths;
}

using Batches = std::vector<std::vector<std::int32_t>>;

Batches batches_of(const BatchPlan& plan) {
  Batches all;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    all.emplace_back(plan.rows(i).begin(), plan.rows(i).end());
  }
  return all;
}

void expect_complete(const BatchPlan& plan, std::size_t pairs) {
  std::vector<int> seen(pairs);
  for (const auto& batch : batches_of(plan)) {
    EXPECT_FALSE(batch.empty());
    for (const std::int32_t row : batch) ++seen.at(static_cast<std::size_t>(row));
  }
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
}

TEST(Batching, TakesEveryPairOnceAndKeepsTheBudget) {
  const auto lengths = some_lengths(5000);
  for (const std::int64_t tokens : {1, 40, 512, 4096, 1000000}) {
    for (const std::int64_t sentences : {0, 1, 7, 64}) {
      const BatchPlan plan =
          plan_epoch(lengths, {.batch_tokens = tokens, .batch_sentences = sentences, .seed = 3}, 2);
      expect_complete(plan, lengths.size());
      for (const auto& batch : batches_of(plan)) {
        const auto rows = std::ssize(batch);
        std::int64_t longest = 0;
        for (const std::int32_t row : batch) {
          const PairLength& pair = lengths[static_cast<std::size_t>(row)];
          longest = std::max<std::int64_t>({longest, pair.source, pair.target});
        }
        EXPECT_TRUE(rows == 1 || rows * longest <= tokens);
        if (sentences > 0) {
          EXPECT_LE(rows, sentences);
        }
      }
    }
  }
}

TEST(Batching, FillsBatches) {
  // 10 pairs of 4 tokens: the longer side counts, so 2 fit into 9 tokens and 3 into 12.
  const std::vector<PairLength> lengths(10, {2, 4});
  EXPECT_EQ(plan_epoch(lengths, {.batch_tokens = 9}, 0).size(), 5);
  EXPECT_EQ(plan_epoch(lengths, {.batch_tokens = 12}, 0).size(), 4);
  EXPECT_EQ(plan_epoch(lengths, {.batch_tokens = 100, .batch_sentences = 5}, 0).size(), 2);
  EXPECT_EQ(plan_epoch({}, {}, 0).size(), 0);
}

TEST(Batching, PutsALongPairAlone) {
  const std::vector<PairLength> lengths = {{3, 3}, {50, 2}, {3, 3}};
  const BatchPlan plan = plan_epoch(lengths, {.batch_tokens = 10, .shuffle = false}, 0);
  EXPECT_THAT(batches_of(plan), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

TEST(Batching, IsAFunctionOfSeedAndEpoch) {
  const auto lengths = some_lengths(2000);
  const BatchingOptions options{.batch_tokens = 256, .seed = 11};
  const auto first = batches_of(plan_epoch(lengths, options, 0));
  EXPECT_EQ(first, batches_of(plan_epoch(lengths, options, 0)));
  EXPECT_NE(first, batches_of(plan_epoch(lengths, options, 1)));
  EXPECT_NE(first, batches_of(plan_epoch(lengths, {.batch_tokens = 256, .seed = 12}, 0)));
}

TEST(Batching, WithoutShufflingIsTheSameAndShortFirst) {
  const auto lengths = some_lengths(500);
  const BatchingOptions options{.batch_tokens = 128, .shuffle = false};
  const auto batches = batches_of(plan_epoch(lengths, options, 0));
  EXPECT_EQ(batches, batches_of(plan_epoch(lengths, options, 7)));
  std::int32_t last = 0;
  for (const auto& batch : batches) {
    for (const std::int32_t row : batch) {
      const std::int32_t length = lengths[static_cast<std::size_t>(row)].source;
      EXPECT_GE(length, last);
      last = length;
    }
  }
}

// Of pairs that shared a batch in one epoch, few do in the next; and batches of one length are not
// all at one end of the epoch.
TEST(Batching, MixesFromEpochToEpoch) {
  const auto lengths = some_lengths(20000);
  const BatchingOptions options{.batch_tokens = 256};
  const auto neighbours = [&](std::int64_t epoch) {
    std::set<std::pair<std::int32_t, std::int32_t>> all;
    for (auto batch : batches_of(plan_epoch(lengths, options, epoch))) {
      std::sort(batch.begin(), batch.end());
      for (std::size_t i = 1; i < batch.size(); ++i) all.emplace(batch[i - 1], batch[i]);
    }
    return all;
  };
  const auto one = neighbours(0), two = neighbours(1);
  std::vector<std::pair<std::int32_t, std::int32_t>> both;
  std::set_intersection(one.begin(), one.end(), two.begin(), two.end(), std::back_inserter(both));
  EXPECT_LT(static_cast<double>(both.size()), 0.25 * static_cast<double>(one.size()));

  const auto batches = batches_of(plan_epoch(lengths, options, 0));
  double front = 0, back = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    (i < batches.size() / 2 ? front : back) +=
        lengths[static_cast<std::size_t>(batches[i][0])].source;
  }
  EXPECT_NEAR(front / back, 1.0, 0.1);
}

TEST(Batching, CountsPadding) {
  const std::vector<PairLength> lengths = {{2, 5}, {4, 3}, {9, 9}};
  BatchPlan plan;
  const std::int32_t both[] = {0, 1}, alone[] = {2};
  plan.add(both);
  plan.add(alone);
  // 2 x (4 + 5) + 1 x (9 + 9) places for 14 + 18 tokens
  EXPECT_DOUBLE_EQ(padding_share(plan, lengths), 1.0 - 32.0 / 36.0);
  EXPECT_EQ(padding_share(BatchPlan(), lengths), 0.0);
}

std::int32_t words_in(const std::string& line) {
  std::istringstream words(line);
  return static_cast<std::int32_t>(std::distance(std::istream_iterator<std::string>(words),
                                                 std::istream_iterator<std::string>()));
}

TEST(Batching, PadsLittleOnMulti30k) {
  const auto english = test::shared_data("multi30k-bpe-wu2021/train.en.gz");
  const auto german = test::shared_data("multi30k-bpe-wu2021/train.de.gz");
  HEED_NEED_SHARED_DATA(english);
  std::vector<PairLength> lengths;
  io::LineReader source(english), target(german);
  for (std::string a, b; source.next(a) && target.next(b);) {
    lengths.push_back({words_in(a) + 1, words_in(b) + 1});
  }
  ASSERT_EQ(lengths.size(), 29000u);
  const BatchPlan plan = plan_epoch(lengths, {.batch_tokens = 4096}, 0);
  expect_complete(plan, lengths.size());
  const double share = padding_share(plan, lengths);
  RecordProperty("padding_percent", std::to_string(100 * share));
  EXPECT_LT(share, 0.06);
  EXPECT_LT(padding_share(plan_epoch(lengths, {.batch_tokens = 1024}, 0), lengths), 0.05);
}

TEST(Batching, RefusesBadOptions) {
  const auto lengths = some_lengths(3);
  EXPECT_THAT(error_message([&] { plan_epoch(lengths, {.batch_tokens = 0}, 0); }),
              HasSubstr("[batching] batch_tokens is 0"));
  EXPECT_THAT(error_message([&] { plan_epoch(lengths, {.batch_sentences = -1}, 0); }),
              HasSubstr("[batching] batch_sentences is -1"));
}

}  // namespace
}  // namespace heed::batching_test
