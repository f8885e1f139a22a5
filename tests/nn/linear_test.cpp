// Linear against PyTorch, with every activation, with and without bias.
#include "heed/nn/linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

TEST(Linear, Golden) {
  const std::pair<std::string, Activation> activations[] = {{"", Activation::none},
                                                            {"_relu", Activation::relu},
                                                            {"_gelu", Activation::gelu},
                                                            {"_gelu_tanh", Activation::gelu_tanh},
                                                            {"_silu", Activation::silu}};
  for (const auto& [suffix, activation] : activations) {
    for (const bool bias : {true, false}) {
      const std::string golden = (bias ? "linear" : "linear_no_bias") + suffix;
      const LinearConfig config{.in = 17, .out = 13, .bias = bias, .activation = activation};
      test::check_golden(golden, [&](const test::Golden& g) -> test::Named {
        Linear layer(config);
        test::take_parameters(layer, g);
        return {{"y", layer(g["x"])}};
      });
    }
  }
}

TEST(Linear, FirstValuesAreThoseOfPyTorch) {
  Generator generator(5);
  const Linear layer({.in = 400, .out = 50}, generator);
  float largest = 0.0f;
  for (const float v : layer.weight.values<float>()) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest, 0.05f);
  EXPECT_GT(largest, 0.0495f);
  largest = 0.0f;
  for (const float v : layer.bias.values<float>()) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest, 0.05f);
  EXPECT_GT(largest, 0.04f);
}

TEST(Linear, RefusesSizesThatWereNotGiven) {
  EXPECT_THAT(error_message([] { Linear({.in = 3}); }), testing::HasSubstr("in 3, out 0"));
}

}  // namespace
}  // namespace heed
