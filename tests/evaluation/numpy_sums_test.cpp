// Means, beside those of NumPy and of Python's statistics.
#include "heed/evaluation/numpy_sums.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/score_golden.h"

namespace heed::evaluation {
namespace {

TEST(NumpySums, AreNumpysToTheBit) {
  const auto rows = test::score_golden("resampling.json")["sums"].list();
  ASSERT_EQ(rows.size(), 8u);
  for (const auto& row : rows) {
    std::vector<double> doubles;
    for (const auto& value : row["values"].list()) doubles.push_back(value.number());
    const std::vector<float> floats(doubles.begin(), doubles.end());
    EXPECT_EQ(pairwise_mean(std::span<const float>(floats)), row["float"].number());
    EXPECT_EQ(pairwise_mean(std::span<const double>(doubles)), row["double"].number());
    EXPECT_EQ(exact_mean(doubles), row["exact"].number());
  }
}

TEST(NumpySums, ExactMeanLosesNothing) {
  const std::vector<double> values = {1e16, 1, -1e16, 1};
  EXPECT_EQ(exact_mean(values), 0.5);
}

}  // namespace
}  // namespace heed::evaluation
