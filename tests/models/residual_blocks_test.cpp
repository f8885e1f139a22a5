// Residual blocks: sizes, the sum with the shortcut, gradients.
#include "heed/models/residual_blocks.h"

#include <gtest/gtest.h>

#include "heed/autograd/gradcheck.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed::residual_blocks_test {
namespace {

TEST(ResidualBlocks, HalveTheSidesAndDoubleTheChannels) {
  Generator generator(1);
  const auto blocks = residual_blocks({.channels = 3, .stages = 3, .blocks = 2}, generator);
  ASSERT_EQ(blocks.size(), 6u);
  Tensor x = randn({2, 3, 9, 14});
  for (const ResidualBlock& block : blocks) x = block(x);
  EXPECT_EQ(x.shape(), (Shape{2, 12, 3, 4})) << "sides are rounded up";
  EXPECT_FALSE(blocks[1].shortcut.has_value());
  EXPECT_TRUE(blocks[2].shortcut.has_value());
}

// With convolutions of 0, what remains is the shortcut.
TEST(ResidualBlocks, AddTheirInput) {
  Generator generator(1);
  ResidualBlock block(4, 4, 1, generator);
  copy_into(block.conv2.weight, zeros(block.conv2.weight.shape()));
  const Tensor x = randn({2, 4, 5, 5});
  EXPECT_TRUE(test::same_bits(block(x), relu(x)));
}

TEST(ResidualBlocks, HaveTheGradientOfTheirInput) {
  Generator generator(1);
  ResidualBlock block(2, 3, 2, generator);
  block.to(DType::f64);
  Tensor x = normal({2, 2, 5, 4}, 0.0, 1.0, generator, DType::f64).requires_grad();
  const GradCheckResult result =
      gradcheck([&](std::span<const Tensor> in) { return block(in[0]); }, {{x}});
  EXPECT_TRUE(result.ok) << result.message;
}

}  // namespace
}  // namespace heed::residual_blocks_test
