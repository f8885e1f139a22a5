// What a model says of pictures.
#include "heed/generation/recognise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "heed/models/resnet.h"
#include "tests/support/error_message.h"

namespace heed::recognise_test {
namespace {

using testing::HasSubstr;

PictureClassifier tiny() {
  Generator generator(5);
  const ResNetConfig config{
      .sizes = {.picture = {1, 8, 8}, .classes = 3}, .stem = 4, .blocks = 1, .attention = {}};
  PictureClassifier classifier{std::make_unique<ResNet>(config, generator),
                               {"a", "b", "c"},
                               {.mean = {0.5}, .deviation = {0.25}}};
  classifier.model->eval();
  return classifier;
}

Picture ramp(std::int64_t side) {
  Picture picture{{1, side, side}, {}};
  for (std::int64_t i = 0; i < side * side; ++i) {
    picture.bytes.push_back(static_cast<std::uint8_t>(255 * i / (side * side)));
  }
  return picture;
}

TEST(Recognise, GivesProbabilities) {
  const PictureClassifier classifier = tiny();
  const Picture dark{{1, 8, 8}, std::vector<std::uint8_t>(64, 3)};
  const auto found = recognise(classifier, std::vector<Picture>{ramp(8), dark});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(std::accumulate(found[0].begin(), found[0].end(), 0.0), 1.0, 1e-6);
  EXPECT_NE(found[0], found[1]);
  EXPECT_EQ(recognise(classifier, std::vector<Picture>{dark})[0], found[1]);
  EXPECT_TRUE(recognise(classifier, {}).empty());
}

TEST(Recognise, PicturesOfOtherSizesAreFitted) {
  const PictureClassifier classifier = tiny();
  EXPECT_THAT(error_message([&] { recognise(classifier, std::vector<Picture>{ramp(16)}); }),
              HasSubstr("a picture of 1 x 16 x 16: the model reads 1 x 8 x 8"));
  const Picture colour = with_channels(ramp(16), 3);
  EXPECT_EQ(fitted(colour, classifier).shape, (PictureShape{1, 8, 8}));
}

}  // namespace
}  // namespace heed::recognise_test
