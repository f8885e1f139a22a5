#include "heed/attention/variants/luong_global.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

// W = 3: scores 3 x h = 0 and ln 3, so weights 1/4 and 3/4; W_c = [2 1].
TEST(LuongGeneral, AnExampleByHand) {
  LuongGeneralAttention layer({.embed = 1});
  layer.weight = full({1, 1}, 3.0);
  layer.combine->weight.data = from_values<float>({2, 1}, {1, 2});
  const auto last = static_cast<float>(std::log(3.0) / 1.5);
  const Tensor x = full({1, 1, 1}, 0.5), h = from_values<float>({0, last}, {1, 2, 1});
  EXPECT_NEAR(layer({.x = x, .memory = h}).item(), std::tanh(2 * 0.75 * last + 0.5), 1e-6);
}

// Rows of W are positions: scores ln 2, 0 and ln 5, whatever the states are.
TEST(LuongLocation, AnExampleByHand) {
  LuongLocationAttention layer({.embed = 1, .max_length = 4, .combine = false});
  const auto ln2 = static_cast<float>(std::log(2.0)), ln5 = static_cast<float>(std::log(5.0));
  layer.weight = from_values<float>({ln2, 0, ln5, 9}, {4, 1});
  const Tensor x = ones({1, 1, 1}), h = from_values<float>({8, 16, -8}, {1, 3, 1});
  EXPECT_NEAR(layer({.x = x, .memory = h}).item(), (2 * 8 + 16 - 5 * 8) / 8.0, 1e-5);
}

TEST(LuongLocation, KnowsOnlySoManyPositions) {
  const LuongLocationAttention layer({.embed = 2, .max_length = 3});
  EXPECT_EQ(error_message([&] {
              layer({.x = zeros({1, 4, 2})});
            }),
            "[luong_location] the memory has 4 positions, the location score knows 3: make the "
            "layer with a greater max_length");
}

}  // namespace
}  // namespace heed
