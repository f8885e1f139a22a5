// Which convolutions need no patches; conv_test.cpp compares their results with the twin.
#include "heed/kernels/direct_conv.h"

#include <gtest/gtest.h>

namespace heed::kernels::direct_conv_test {
namespace {

// Pictures of 16 x 16, with a kernel of 3 x 3 and padding of 1.
ConvShape usual() { return {16, 4, 6, 1, {{16, 3, 1, 1}, {16, 3, 1, 1}}}; }

TEST(DirectConv, IsForStridesOfOneAndRowsOfSomeOutputs) {
  EXPECT_TRUE(is_direct(usual()));
  ConvShape shape = usual();
  shape.window.columns.stride = 2;
  EXPECT_FALSE(is_direct(shape));
  shape = usual();
  shape.window.rows.stride = 2;
  EXPECT_FALSE(is_direct(shape));
  shape = usual();
  shape.window.columns.size = 4;
  EXPECT_FALSE(is_direct(shape)) << "most lanes would be empty";
  shape = usual();
  shape.window.rows.padding = 3;
  EXPECT_FALSE(is_direct(shape)) << "the gradient of the input would need negative padding";
  shape = usual();
  shape.window = {{16, 1}, {16, 1}};
  EXPECT_FALSE(is_direct(shape)) << "a pointwise kernel is a plain product";
  shape = usual();
  shape.batch = 0;
  EXPECT_FALSE(is_direct(shape));
}

}  // namespace
}  // namespace heed::kernels::direct_conv_test
