// Attention drawn over a picture: a copy for each query, colours by weight, selections, messages.
#include "heed/plot/picture_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/plot/attention_sheet.h"
#include "heed/tensor/create.h"
#include "tests/support/count.h"
#include "tests/support/error_message.h"

namespace heed::plot {
namespace {

using heed::test::count;
using testing::HasSubstr;
using testing::Not;

// A black picture of 4 x 2 pixels, and two words over a grid of 2 x 1 places.
AttentionView two_words() {
  AttentionView view{.text = "a.png", .result = "one <two>", .parts = {}};
  view.parts.push_back({.kind = AttentionKind::cross,
                        .rows = {"one", "<two>"},
                        .columns = {"1,1", "2,1"},
                        .layers = {from_values<float>({1, 0, 0.25f, 0.75f}, {1, 2, 2})}});
  view.picture = {Picture{{1, 4, 2}, std::vector<std::uint8_t>(8, 0)}, 2, 1};
  return view;
}

TEST(PictureSheet, HasACopyOfThePictureForEachQuery) {
  const std::string svg = attention_svg(two_words());
  EXPECT_EQ(count(svg, "<title>"), 2u);
  EXPECT_THAT(svg, HasSubstr("<title>&lt;two&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(">→ one &lt;two&gt;<"));
}

TEST(PictureSheet, PlacesAreColouredByTheirWeight) {
  const std::string svg = picture_svg(two_words());
  // Rows of equal pixels are one box: 2 rows black, 2 rows coloured; then 2 and 2 of other colours.
  EXPECT_EQ(count(svg, "fill=\"#000000\""), 1u) << "only the first word has a place of weight 0";
  EXPECT_EQ(count(svg, "fill=\"#a05800\""), 2u) << "the largest weight of each word";
  EXPECT_EQ(count(svg, "h66v33"), 8u) << "a box for each row of pixels";
}

TEST(PictureSheet, HeadsAreNamedIfThereAreSeveral) {
  AttentionView view = two_words();
  view.parts[0].layers.push_back(view.parts[0].layers[0]);
  EXPECT_THAT(picture_svg(view), HasSubstr(">one (2.1)<"));
  const std::string second = picture_svg(view, {.layer = 2});
  EXPECT_EQ(count(second, "<title>"), 2u);
  EXPECT_THAT(second, Not(HasSubstr("(1.1)")));
  EXPECT_THAT(error_message([&] { picture_svg(view, {.layer = 3}); }),
              HasSubstr("layers go from 1 to 2"));
}

TEST(PictureSheet, AGridThatDoesNotFitIsAnError) {
  AttentionView view = two_words();
  view.picture->columns = 2;
  EXPECT_THAT(error_message([&] { picture_svg(view); }),
              HasSubstr("to 2 places does not fit a grid of 2 x 2"));
  view.picture.reset();
  EXPECT_THAT(error_message([&] { picture_svg(view); }), HasSubstr("has no picture to draw on"));
}

}  // namespace
}  // namespace heed::plot
