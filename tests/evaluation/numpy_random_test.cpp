// NumPy's random numbers, beside NumPy.
#include "heed/evaluation/numpy_random.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/score_golden.h"

namespace heed::evaluation {
namespace {

TEST(NumpyRandom, IsNumpys) {
  const auto rows = test::score_golden("resampling.json")["random"].list();
  ASSERT_EQ(rows.size(), 5u);
  for (const auto& row : rows) {
    const std::uint64_t seed = std::stoull(row["seed"].text());
    for (const auto& draw : row["below"].list()) {
      NumpyRandom random(seed);
      const auto n = static_cast<std::uint32_t>(draw["n"].integer());
      for (const auto& value : draw["values"].list()) {
        EXPECT_EQ(random.below(n), value.integer()) << "seed " << seed << ", below " << n;
      }
    }
    NumpyRandom random(seed);
    for (const auto& coin : row["coins"].list()) EXPECT_EQ(random.coin(), coin.flag());
  }
}

}  // namespace
}  // namespace heed::evaluation
