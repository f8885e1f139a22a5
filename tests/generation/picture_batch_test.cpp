// Pictures as numbers: values by hand, sizes.
#include "heed/generation/picture_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::picture_batch_test {
namespace {

using testing::ElementsAre;

TEST(PictureBatch, IsScaled) {
  const std::vector<Picture> pictures = {{{1, 1, 2}, {0, 255}}, {{1, 1, 2}, {51, 102}}};
  const Tensor x = picture_batch("see", pictures, {1, 1, 2}, {{0.2}, {0.5}});
  EXPECT_EQ(x.shape(), (Shape{2, 1, 1, 2}));
  EXPECT_THAT(x.to_vector<float>(),
              ElementsAre(testing::FloatNear(-0.4f, 1e-6f), testing::FloatNear(1.6f, 1e-6f),
                          testing::FloatNear(0.0f, 1e-6f), testing::FloatNear(0.4f, 1e-6f)));
}

TEST(PictureBatch, SizesMustBeThoseOfTheModel) {
  const std::vector<Picture> pictures = {{{1, 2, 2}, {1, 2, 3, 4}}};
  EXPECT_EQ(error_message([&] {
              picture_batch("caption", pictures, {3, 4, 4}, {{0, 0, 0}, {1, 1, 1}});
            }),
            "[caption] a picture of 1 x 2 x 2: the model reads 3 x 4 x 4; use fitted()");
  EXPECT_EQ(fitted(pictures[0], PictureSize{3, 4, 4}).shape, (PictureShape{3, 4, 4}));
}

}  // namespace
}  // namespace heed::picture_batch_test
