// Pictures as numbers: scaled, moved and mirrored.
#include "heed/pictures/picture_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heed::picture_scale_test {
namespace {

using testing::ElementsAre;
using testing::FloatEq;

TEST(PictureScale, PicturesBecomeNumbers) {
  const std::vector<std::uint8_t> bytes = {0, 255, 51, 102};
  const PictureScale scale{.mean = {0.2}, .deviation = {0.5}};
  const PictureShape shape{1, 2, 2};
  std::vector<float> numbers(4);
  write_numbers(bytes, shape, scale, {}, numbers.data());
  EXPECT_THAT(numbers, ElementsAre(FloatEq(-0.4f), FloatEq(1.6f), FloatEq(0.0f), FloatEq(0.4f)));
  write_numbers(bytes, shape, scale, {.mirrored = true}, numbers.data());
  EXPECT_THAT(numbers, ElementsAre(FloatEq(1.6f), FloatEq(-0.4f), FloatEq(0.4f), FloatEq(0.0f)));
  write_numbers(bytes, shape, scale, {.down = 1, .right = 1}, numbers.data());
  EXPECT_THAT(numbers, ElementsAre(0.0f, 0.0f, 0.0f, FloatEq(-0.4f)));
}

}  // namespace
}  // namespace heed::picture_scale_test
