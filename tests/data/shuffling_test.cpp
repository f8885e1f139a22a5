// Measuring the order of an epoch: windows that hold everything are random, small ones are not.
#include "heed/data/shuffling.h"

#include <gtest/gtest.h>

#include "tests/data/packed_corpus.h"
#include "tests/support/temp_dir.h"

namespace heed {
namespace {

constexpr std::int64_t kPairs = 4000;

Shuffling measured(const PackedPairs& corpus, std::int64_t window, bool shuffle = true) {
  return measure_shuffling(
      corpus, {.batching = {.batch_tokens = 400, .shuffle = shuffle, .seed = 3}, .window = window},
      0);
}

TEST(Shuffling, IsRandomInOneWindow) {
  const TempDir folder;
  const PackedPairs corpus(test::packed_corpus(folder / "c", kPairs, 8, 1 << 20));
  const Shuffling all = measured(corpus, kPairs);
  EXPECT_NEAR(all.moved, 1.0 / 3.0, 0.02);
  EXPECT_NEAR(all.correlation, 0.0, 0.06);
  EXPECT_NEAR(all.neighbours, 1.0 / 3.0, 0.02);
  EXPECT_LT(all.same_block, 0.01);
  EXPECT_GT(all.padding, 0.0);
  EXPECT_LT(all.padding, 0.2);
}

TEST(Shuffling, KeepsNeighboursInAWindow) {
  const TempDir folder;
  const PackedPairs corpus(test::packed_corpus(folder / "c", kPairs, 8, 1 << 20));
  const Shuffling tenths = measured(corpus, kPairs / 10);
  EXPECT_NEAR(tenths.moved, 1.0 / 3.0, 0.03) << "blocks go everywhere";
  EXPECT_NEAR(tenths.correlation, 0.0, 0.15);
  EXPECT_NEAR(tenths.neighbours, 1.0 / 30.0, 0.005);
  EXPECT_GT(tenths.same_block, 2.0 * measured(corpus, kPairs).same_block);
}

TEST(Shuffling, NoticesAnOrderThatIsNotShuffled) {
  const TempDir folder;
  const PackedPairs corpus(test::packed_corpus(folder / "c", kPairs, 8, 1 << 20));
  const Shuffling sorted = measured(corpus, kPairs / 10, false);
  EXPECT_GT(sorted.correlation, 0.9);
  EXPECT_LT(sorted.moved, 0.1);
}

}  // namespace
}  // namespace heed
