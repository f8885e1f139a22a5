// The sizes of models of pictures come from the data.
#include "heed/models/picture_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_message.h"

namespace heed::picture_sizes_test {
namespace {

TEST(PictureSizes, ComeFromTheData) {
  PictureSizes sizes;
  EXPECT_EQ(error_message([&] { sizes.check("resnet"); }),
            "[resnet] pictures of 0 x 0 x 0 and 0 classes: give all sizes");
  sizes.set({.classes = 10, .picture = {1, 28, 30}});
  sizes.check("resnet");
  EXPECT_EQ(sizes.classes, 10);
  EXPECT_EQ(sizes.picture.width, 30);
}

}  // namespace
}  // namespace heed::picture_sizes_test
