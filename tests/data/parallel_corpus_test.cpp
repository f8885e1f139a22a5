// Corpora: what is kept, what is dropped and why.
#include "heed/data/parallel_corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/io/file.h"
#include "tests/data/letters.h"
#include "tests/support/error_message.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Row = std::vector<std::int32_t>;

Row letters(int n) { return Row(static_cast<std::size_t>(n), 9); }

TEST(ParallelCorpus, EndsSources) {
  ParallelCorpus corpus({}, {});
  EXPECT_TRUE(corpus.add(Row{5, 6}, Row{7}));
  EXPECT_THAT(corpus.source(0), ElementsAre(5, 6, 2));
  EXPECT_THAT(corpus.target(0), ElementsAre(7));
  ParallelCorpus without({}, {.end_source = false});
  without.add(Row{5, 6}, Row{7});
  EXPECT_THAT(without.source(0), ElementsAre(5, 6));
}

TEST(ParallelCorpus, FiltersAtTheLimits) {
  ParallelCorpus corpus(
      {}, {.max_source_length = 6, .max_target_length = 8, .min_length = 2, .max_ratio = 2.0});
  EXPECT_TRUE(corpus.add(letters(6), letters(8)));
  EXPECT_TRUE(corpus.add(letters(2), letters(4)));
  EXPECT_FALSE(corpus.add(letters(7), letters(8)));
  EXPECT_FALSE(corpus.add(letters(6), letters(9)));
  EXPECT_FALSE(corpus.add(letters(1), letters(2)));
  EXPECT_FALSE(corpus.add(letters(2), letters(0)));
  EXPECT_FALSE(corpus.add(letters(2), letters(5)));
  EXPECT_FALSE(corpus.add(letters(5), letters(2)));
  EXPECT_EQ(corpus.size(), 2);
  EXPECT_EQ(corpus.report().kept, 2);
  EXPECT_EQ(corpus.report().too_long, 2);
  EXPECT_EQ(corpus.report().too_short, 2);
  EXPECT_EQ(corpus.report().bad_ratio, 2);
  EXPECT_EQ(corpus.report().source_tokens, 8);
  EXPECT_EQ(corpus.report().target_tokens, 12);
  EXPECT_EQ(describe(corpus.report()),
            "2 pairs kept, 2 too long, 2 too short, 2 of unequal length");
}

TEST(ParallelCorpus, KnowsWhatPairsTakeInABatch) {
  ParallelCorpus corpus({}, {});
  corpus.add(letters(3), letters(5));
  const std::vector<PairLength> lengths = corpus.lengths();
  ASSERT_EQ(lengths.size(), 1u);
  EXPECT_EQ(lengths[0].source, 4);
  EXPECT_EQ(lengths[0].target, 6);
}

TEST(ParallelCorpus, IsReadThroughTokenizers) {
  const TempDir folder;
  io::write_file(folder / "a", "ab\ntoo long\nz\n");
  io::write_file(folder / "b", "c\nd\nezf\n");
  ParallelText text(folder / "a", folder / "b");
  const ParallelCorpus corpus =
      read_corpus(text, test::Letters(), test::Letters(), {.max_source_length = 3});
  ASSERT_EQ(corpus.size(), 2);
  EXPECT_THAT(corpus.source(0), ElementsAre('a' + 4, 'b' + 4, 2));
  EXPECT_THAT(corpus.target(0), ElementsAre('c' + 4));
  EXPECT_THAT(corpus.source(1), ElementsAre(0, 2));
  EXPECT_THAT(corpus.target(1), ElementsAre('e' + 4, 0, 'f' + 4));
  EXPECT_EQ(corpus.report().source_unknown, 1);
  EXPECT_EQ(corpus.report().target_unknown, 1);
  EXPECT_EQ(describe(corpus.report()),
            "2 pairs kept, 1 too long; 33.3 % of source tokens unknown; 25 % of target tokens "
            "unknown");
}

TEST(ParallelCorpus, RefusesBadOptions) {
  EXPECT_THAT(error_message([] { ParallelCorpus({}, {.max_ratio = 0.5}); }),
              HasSubstr("[corpus] max_ratio is 0.5"));
  EXPECT_THAT(error_message([] { ParallelCorpus({}, {.min_length = -1}); }),
              HasSubstr("none may be negative"));
}

}  // namespace
}  // namespace heed
