// Batches of pairs: what the decoder is given and what it must say.
#include "heed/data/batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed {
namespace {

using testing::ElementsAre;
using Row = std::vector<std::int32_t>;

constexpr PairSpecials kSpecials = {.source = {.end = 2, .padding = 3},
                                    .target = {.begin = 101, .end = 102, .padding = 103}};

ParallelCorpus some_corpus() {
  ParallelCorpus corpus(kSpecials, {});
  corpus.add(Row{11, 12, 13}, Row{21});
  corpus.add(Row{14}, Row{22, 23, 24});
  corpus.add(Row{15, 16}, Row{25, 26});
  return corpus;
}

TEST(Batch, PadsAndShifts) {
  const std::int32_t chosen[] = {1, 0};
  const Batch batch = make_batch(some_corpus(), chosen);
  EXPECT_EQ(batch.source.shape(), (Shape{2, 4}));
  EXPECT_THAT(batch.source.values<std::int64_t>(), ElementsAre(14, 2, 3, 3, 11, 12, 13, 2));
  EXPECT_THAT(batch.source_lengths.values<std::int64_t>(), ElementsAre(2, 4));
  EXPECT_EQ(batch.target.shape(), (Shape{2, 4}));
  EXPECT_THAT(batch.target.values<std::int64_t>(), ElementsAre(101, 22, 23, 24, 101, 21, 103, 103));
  EXPECT_THAT(batch.expected.values<std::int64_t>(),
              ElementsAre(22, 23, 24, 102, 21, 102, kIgnored, kIgnored));
  EXPECT_THAT(batch.target_lengths.values<std::int64_t>(), ElementsAre(4, 2));
  EXPECT_EQ(batch.source_tokens, 6);
  EXPECT_EQ(batch.target_tokens, 6);
}

TEST(Batch, OfOnePairHasNoPadding) {
  const std::int32_t chosen[] = {2};
  const Batch batch = make_batch(some_corpus(), chosen);
  EXPECT_THAT(batch.source.values<std::int64_t>(), ElementsAre(15, 16, 2));
  EXPECT_THAT(batch.target.values<std::int64_t>(), ElementsAre(101, 25, 26));
  EXPECT_THAT(batch.expected.values<std::int64_t>(), ElementsAre(25, 26, 102));
}

TEST(Batch, OfAnEmptyTargetExpectsTheEnd) {
  ParallelCorpus corpus(kSpecials, {.min_length = 0, .end_source = false});
  corpus.add({}, {});
  const std::int32_t chosen[] = {0};
  const Batch batch = make_batch(corpus, chosen);
  EXPECT_EQ(batch.source.shape(), (Shape{1, 0}));
  EXPECT_THAT(batch.target.values<std::int64_t>(), ElementsAre(101));
  EXPECT_THAT(batch.expected.values<std::int64_t>(), ElementsAre(102));
}

TEST(Batch, RefusesPairsThatAreNotThere) {
  const std::int32_t beyond[] = {3};
  EXPECT_THROW(make_batch(some_corpus(), beyond), InternalError);
  EXPECT_THROW(make_batch(some_corpus(), {}), InternalError);
}

}  // namespace
}  // namespace heed
