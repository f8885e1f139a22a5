// The layer: on in training, off in use, the default generator's numbers.
#include "heed/nn/dropout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/base/random.h"
#include "heed/ops/elementwise.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(DropoutLayer, OnlyWhileTraining) {
  default_generator() = Generator(5);
  Dropout layer({.p = 0.25});
  const Tensor x = ones({10000});
  const std::vector<float> y = layer(x).to_vector<float>();
  const auto zeros = std::count(y.begin(), y.end(), 0.0f);
  EXPECT_NEAR(static_cast<double>(zeros), 2500.0, 150.0);
  EXPECT_EQ(std::count(y.begin(), y.end(), 1.0f / 0.75f), 10000 - zeros);
  layer.eval();
  EXPECT_TRUE(test::same_bits(layer(x), x));
}

TEST(DropoutLayer, WithResidual) {
  Dropout layer({.p = 0.5});
  const Tensor x = randn({17}), residual = randn({17});
  default_generator() = Generator(5);
  const Tensor fused = layer(x, residual);
  default_generator() = Generator(5);
  EXPECT_LE(test::max_relative_error(fused, layer(x) + residual), 1e-6);
  layer.eval();
  EXPECT_LE(test::max_relative_error(layer(x, residual), x + residual), 1e-6);
}

TEST(DropoutLayer, RefusesABadShare) {
  EXPECT_THAT(error_message([] { Dropout({.p = 1.0}); }), testing::HasSubstr("p 1"));
  EXPECT_THAT(error_message([] { Dropout({.p = -0.1}); }), testing::HasSubstr("p -0.1"));
}

}  // namespace
}  // namespace heed
