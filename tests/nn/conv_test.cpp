// Convolution layers against PyTorch.
#include "heed/nn/conv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using test::check_golden;
using test::Golden;
using test::Named;

// "2,1" or "2".
Size2d size_of_text(const std::string& text) {
  const auto comma = text.find(',');
  if (comma == text.npos) return std::stol(text);
  return {std::stol(text.substr(0, comma)), std::stol(text.substr(comma + 1))};
}

constexpr const char* kSuffixes[] = {"",        "_no_bias",   "_stride", "_dilation",
                                     "_groups", "_depthwise", "_all"};

TEST(Conv1d, Golden) {
  for (const std::string suffix : kSuffixes) {
    check_golden("conv1d" + suffix, [](const Golden& g) -> Named {
      const auto number = [&](const char* key) { return std::stol(g.text(key)); };
      Conv1d layer({.in = g["x"].size(1),
                    .out = g["weight"].size(0),
                    .kernel = number("kernel_size"),
                    .stride = number("stride"),
                    .padding = number("padding"),
                    .dilation = number("dilation"),
                    .groups = number("groups"),
                    .bias = g.text("bias") == "true"});
      test::take_parameters(layer, g);
      return {{"y", layer(g["x"])}};
    });
  }
}

TEST(Conv2d, Golden) {
  for (const std::string suffix : kSuffixes) {
    check_golden("conv2d" + suffix, [](const Golden& g) -> Named {
      const auto size = [&](const char* key) { return size_of_text(g.text(key)); };
      Conv2d layer({.in = g["x"].size(1),
                    .out = g["weight"].size(0),
                    .kernel = size("kernel_size"),
                    .stride = size("stride"),
                    .padding = size("padding"),
                    .dilation = size("dilation"),
                    .groups = std::stol(g.text("groups")),
                    .bias = g.text("bias") == "true"});
      test::take_parameters(layer, g);
      return {{"y", layer(g["x"])}};
    });
  }
}

TEST(Conv2d, FirstValuesAreThoseOfPyTorch) {
  const Conv2d layer({.in = 20, .out = 30, .kernel = {5, 4}, .groups = 2});
  float largest = 0.0f;
  for (const float v : layer.weight.values<float>()) largest = std::max(largest, std::abs(v));
  const float range = 1.0f / std::sqrt(200.0f);  // 10 channels a group, 5 x 4
  EXPECT_LE(largest, range);
  EXPECT_GT(largest, 0.99f * range);
}

TEST(Conv, RefusesBadConfigs) {
  EXPECT_THAT(error_message([] { Conv1d({.in = 3}); }), testing::HasSubstr("in 3, out 0"));
  EXPECT_THAT(error_message([] { Conv1d({.in = 3, .out = 4, .groups = 2}); }),
              testing::HasSubstr("groups 2 must divide in 3 and out 4"));
  EXPECT_THAT(error_message([] {
                Conv2d({.in = 3, .out = 4, .kernel = {3, 0}});
              }),
              testing::HasSubstr("kernel of size 0"));
}

}  // namespace
}  // namespace heed
