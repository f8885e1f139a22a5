#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/plot/comparison.h"
#include "tests/plot/small_comparison.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;

TEST(ComparisonTables, HaveARowForEachLayerThatWasMeasured) {
  const Comparison& comparison = test::small_comparison();
  const std::vector<Table> tables = comparison_tables(comparison);
  ASSERT_EQ(tables.size(), 5u);
  EXPECT_EQ(tables[0].rows.size(), 5u);  // formulas
  EXPECT_EQ(tables[1].rows.size(), 5u);  // paths
  EXPECT_EQ(tables[2].rows.size(), 4u);  // growth: the dilated convolution is not measured
  EXPECT_EQ(tables[3].rows.size(), 4u);  // times, for every n
  for (const auto& row : tables[3].rows)
    EXPECT_EQ(row.size(), 1 + comparison.config.lengths.size());
  EXPECT_EQ(tables[4].rows.size(), comparison.config.sizes.size());
  for (const Table& table : tables) {
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.header.size()) << table.title;
  }
}

TEST(ComparisonTables, ConditionsSayWhatWasMeasured) {
  Comparison comparison = test::small_comparison();
  EXPECT_THAT(comparison_conditions(comparison), HasSubstr("batch 1, f32, forward, "));
  comparison.config.backward = true;
  EXPECT_THAT(comparison_conditions(comparison), HasSubstr("forward and backward"));
}

}  // namespace
}  // namespace heed::plot
