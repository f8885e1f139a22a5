#include <gtest/gtest.h>

#include "heed/io/json.h"
#include "heed/plot/comparison.h"
#include "tests/plot/small_comparison.h"

namespace heed::plot {
namespace {

TEST(ComparisonJson, HoldsEveryMeasurement) {
  const Comparison& comparison = test::small_comparison();
  const io::Value read = io::parse_json(comparison_json(comparison), "comparison");
  const io::Value::List& layers = *io::find(*read.table(), "layers")->list();
  ASSERT_EQ(layers.size(), comparison.layers().size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ComparedLayer& layer = *comparison.layers()[i];
    const io::Value::Table& table = *layers[i].table();
    EXPECT_EQ(*io::find(table, "name")->string(), layer.name);
    const io::Value* const measured = io::find(table, "points");
    ASSERT_EQ(measured != nullptr, !layer.points.empty());
    if (measured == nullptr) continue;
    const io::Value::List& points = *measured->list();
    ASSERT_EQ(points.size(), layer.points.size());
    for (std::size_t j = 0; j < points.size(); ++j) {
      EXPECT_EQ(*io::find(*points[j].table(), "flops")->integer(), layer.points[j].flops);
    }
  }
  EXPECT_EQ(io::find(*read.table(), "crossovers")->list()->size(), comparison.crossovers.size());
}

}  // namespace
}  // namespace heed::plot
