#include "heed/plot/heatmap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/tensor/create.h"
#include "tests/support/count.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using heed::test::count;
using testing::HasSubstr;
using testing::Not;

TEST(Heatmap, ColorsGoFromWhiteToDark) {
  EXPECT_EQ(weight_color(0.0), "#ffffff");
  EXPECT_EQ(weight_color(1.0), "#08285c");
  EXPECT_EQ(weight_color(7.0), weight_color(1.0));
  EXPECT_EQ(weight_color(-1.0), weight_color(0.0));
}

TEST(Heatmap, ASquareForEachWeightThatIsThere) {
  const Tensor w = from_values<float>({0.5f, 0.0f, 0.25f, 0.25f}, {2, 2});
  const std::string svg =
      heatmap_svg({{.title = "head 0", .weights = w, .rows = {"a", "b"}, .columns = {"x", "<y>"}}});
  EXPECT_EQ(count(svg, "crispEdges"), 1u + 2u);  // the sheet and two shades
  EXPECT_THAT(svg, HasSubstr("h28v14h-28z"));    // equal neighbours
  EXPECT_THAT(svg, HasSubstr(weight_color(1.0)));
  EXPECT_THAT(svg, HasSubstr(weight_color(0.5)));
  EXPECT_THAT(svg, HasSubstr("&lt;y&gt;"));
  EXPECT_THAT(heatmap_svg({{.weights = w}}, {.relative = false}),
              Not(HasSubstr(weight_color(1.0))));
}

TEST(Heatmap, APowerBelowOneShowsSmallWeights) {
  const Heatmap map{.weights = from_values<float>({0.25f}, {1, 1})};
  EXPECT_THAT(heatmap_svg({map}, {.relative = false, .power = 0.5}), HasSubstr(weight_color(0.5)));
  EXPECT_THAT(heatmap_svg({map}, {.relative = false}), HasSubstr(weight_color(0.25)));
}

TEST(Heatmap, ChineseLabelsTakeTwiceTheRoomOfLatinOnes) {
  const auto left = [](const char* label) {
    return heatmap_room({.weights = ones({1, 1}), .rows = {label}}).left;
  };
  EXPECT_EQ(left("猫猫"), left("abcd"));
  EXPECT_EQ(left("\u00e9\u00e9"), left("ee"));
  EXPECT_EQ(heatmap_room({.weights = ones({2, 3})}, {.cell = 5}).width, 15);
}

TEST(Heatmap, LinesOfMatrices) {
  const Heatmap map{.weights = ones({2, 3})};
  const std::string two = heatmap_svg({map, map, map}, {.cell = 10, .per_line = 2});
  EXPECT_THAT(two, HasSubstr(R"(viewBox="0 0 96 76")"));
}

TEST(Heatmap, WeightsThatAreNotNumbersAreWhite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::string numbers =
      heatmap_svg({{.weights = from_values<float>({0.0f, 0.5f, 0.25f}, {1, 3})}});
  EXPECT_EQ(heatmap_svg({{.weights = from_values<float>({kNan, 0.5f, 0.25f}, {1, 3})}}), numbers);
  EXPECT_EQ(heatmap_svg({{.weights = from_values<float>({-kInfinity, 0.5f, 0.25f}, {1, 3})}}),
            numbers);
  const std::string infinite =
      heatmap_svg({{.weights = from_values<float>({kInfinity, 0.5f, 0.25f}, {1, 3})}});
  EXPECT_THAT(infinite, HasSubstr(weight_color(0.5))) << "the unit is the largest finite weight";
  EXPECT_THAT(heatmap_svg({{.weights = empty({0, 3})}}), HasSubstr("</svg>"));
  EXPECT_THAT(heatmap_svg({{.weights = empty({3, 0})}}), HasSubstr("</svg>"));
  EXPECT_THAT(heatmap_svg({}), HasSubstr("</svg>"));
}

TEST(Heatmap, StylesAreChecked) {
  const std::vector<Heatmap> maps = {{.weights = ones({2, 3})}};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double bad : {-1.0, 0.0, kInfinity, std::nan("")}) {
    EXPECT_THAT(error_message([&] { heatmap_svg(maps, {.power = bad}); }), HasSubstr("power is"));
    EXPECT_THAT(error_message([&] { heatmap_svg(maps, {.cell = bad}); }), HasSubstr("cell is"));
    EXPECT_THAT(error_message([&] { heatmap_svg(maps, {.label_size = bad}); }),
                HasSubstr("label_size is"));
    EXPECT_THAT(error_message([&] { heatmap_room(maps[0], {.title_size = bad}); }),
                HasSubstr("title_size"));
  }
  EXPECT_THAT(error_message([&] { heatmap_svg(maps, {.cell = 1e300}); }), HasSubstr("cell is"));
  EXPECT_THAT(error_message([&] { heatmap_svg(maps, {.per_line = 0}); }), HasSubstr("per_line"));
  EXPECT_THAT(heatmap_svg(maps, {.power = 1e300}), HasSubstr("</svg>"));
}

TEST(Heatmap, WrongLabelsAreNamed) {
  const Heatmap map{.title = "t", .weights = ones({2, 3}), .rows = {"one"}};
  EXPECT_THAT(error_message([&] { heatmap_svg({map}); }),
              HasSubstr("t has 1 row and 0 column labels for weights [2, 3]"));
  EXPECT_THAT(error_message([&] { heatmap_svg({{.title = "t", .weights = ones({2})}}); }),
              HasSubstr("must be a matrix"));
}

}  // namespace
}  // namespace heed::plot
