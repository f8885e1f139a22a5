// Bringing pictures to another size and to other channels.
#include "heed/pictures/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::picture_test {
namespace {

using testing::ElementsAre;

TEST(Picture, BecomesGreyAndColoured) {
  const Picture colour{{3, 1, 2}, {255, 0, 0, 0, 0, 100}};  // red; a dark blue
  EXPECT_THAT(with_channels(colour, 1).bytes, ElementsAre(76, 11));
  const Picture grey{{1, 1, 2}, {7, 9}};
  EXPECT_THAT(with_channels(grey, 3).bytes, ElementsAre(7, 9, 7, 9, 7, 9));
  EXPECT_EQ(with_channels(grey, 3).shape, (PictureShape{3, 1, 2}));
}

TEST(Picture, ShrinksToMeans) {
  const Picture picture{{1, 2, 4}, {0, 2, 10, 20, 4, 6, 30, 40}};
  EXPECT_THAT(fitted(picture, 1, 2).bytes, ElementsAre(3, 25));
}

TEST(Picture, IsCutAroundItsMiddle) {
  const Picture wide{{1, 1, 5}, {1, 2, 3, 4, 5}};
  EXPECT_THAT(fitted(wide, 1, 3).bytes, ElementsAre(2, 3, 4));
  const Picture high{{1, 4, 1}, {1, 2, 3, 4}};
  EXPECT_THAT(fitted(high, 2, 1).bytes, ElementsAre(2, 3));
}

TEST(Picture, GrowsWithoutNewValues) {
  const Picture flat{{1, 1, 1}, {9}};
  EXPECT_THAT(fitted(flat, 2, 2).bytes, ElementsAre(9, 9, 9, 9));
  const Picture pair{{1, 2, 2}, {0, 100, 0, 100}};
  const Picture grown = fitted(pair, 4, 4);
  EXPECT_EQ(grown.bytes[0], 0);
  EXPECT_EQ(grown.bytes[3], 100);
}

}  // namespace
}  // namespace heed::picture_test
