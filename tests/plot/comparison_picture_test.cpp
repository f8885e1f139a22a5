#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/plot/comparison.h"
#include "tests/plot/small_comparison.h"

namespace heed::plot {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ComparisonPicture, ShowsLayersFormulasAndCharts) {
  const Comparison& comparison = test::small_comparison();
  const std::string svg = comparison_svg(comparison);
  for (const ComparedLayer* const layer : comparison.layers()) {
    EXPECT_THAT(svg, HasSubstr(">" + layer->title + "<"));
  }
  EXPECT_THAT(svg, HasSubstr("²"));  // powers as they are written by hand
  EXPECT_THAT(svg, Not(HasSubstr("^2 ")));
  EXPECT_THAT(svg, HasSubstr("Crossover"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace heed::plot
