// Random orders: complete, even, and the same again.
#include "heed/data/shuffle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <vector>

namespace heed {
namespace {

std::vector<int> order(int n, const RandomStream& random) {
  std::vector<int> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  const std::vector<int> all = values;
  shuffle(values, random);
  EXPECT_THAT(values, testing::UnorderedElementsAreArray(all));
  return values;
}

TEST(Shuffle, KeepsAllAndRepeats) {
  for (const int n : {0, 1, 2, 7, 1000}) {
    const RandomStream random = data_stream(5, DataPurpose::pairs, n);
    EXPECT_EQ(order(n, random), order(n, random));
  }
}

TEST(Shuffle, DependsOnSeedPurposeAndNumber) {
  const auto first = order(20, data_stream(1, DataPurpose::pairs, 0));
  EXPECT_NE(first, order(20, data_stream(2, DataPurpose::pairs, 0)));
  EXPECT_NE(first, order(20, data_stream(1, DataPurpose::batches, 0)));
  EXPECT_NE(first, order(20, data_stream(1, DataPurpose::pairs, 1)));
  EXPECT_NE(first, order(20, RandomStream{1, 0})) << "as dropout's first stream";
}

TEST(Shuffle, GivesEveryOrderAlikeOften) {
  std::map<std::vector<int>, int> counts;
  for (int i = 0; i < 6000; ++i) ++counts[order(3, data_stream(1, DataPurpose::pairs, i))];
  ASSERT_EQ(counts.size(), 6u);
  // Six standard deviations of a binomial of 6000 draws at 1/6.
  for (const auto& [_, count] : counts) EXPECT_NEAR(count, 1000, 6 * 29);
}

}  // namespace
}  // namespace heed
