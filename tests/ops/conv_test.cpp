// Convolutions: values, gradients, messages, and what PyTorch computed.
#include "heed/ops/conv.h"

#include <gtest/gtest.h>

#include <sstream>

#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_golden;
using test::check_op;
using test::Golden;
using test::Named;

struct Case1d {
  std::int64_t batch, channels, length, out, kernel;
  Conv1dOptions options = {};
};

void check_1d(const Case1d& c) {
  check_op({.name = "conv1d",
            .shapes = {{c.batch, c.channels, c.length},
                       {c.out, c.channels / c.options.groups, c.kernel},
                       {c.out}},
            .op =
                [c](auto in) {
                  Conv1dOptions options = c.options;
                  options.bias = in[2];
                  return conv1d(in[0], in[1], options);
                },
            .low = -0.5,
            .high = 0.5,
            .tolerance = 1e-5,
            .gradient_tolerance = 1e-4});
}

struct Case2d {
  Shape x;
  Shape weight;
  Conv2dOptions options = {};
};

void check_2d(const Case2d& c) {
  check_op({.name = "conv2d",
            .shapes = {c.x, c.weight, {c.weight[0]}},
            .op =
                [c](auto in) {
                  Conv2dOptions options = c.options;
                  options.bias = in[2];
                  return conv2d(in[0], in[1], options);
                },
            .low = -0.5,
            .high = 0.5,
            .tolerance = 1e-5,
            .gradient_tolerance = 1e-4});
}

TEST(Conv1d, OddSizesStridesPaddingsAndDilations) {
  check_1d({1, 1, 1, 1, 1});
  check_1d({2, 3, 7, 4, 3});
  check_1d({3, 2, 17, 5, 4, {.stride = 2, .padding = 3}});
  check_1d({1, 2, 9, 3, 3, {.padding = 4, .dilation = 4}});
  check_1d({2, 4, 11, 6, 3, {.stride = 3, .padding = 1, .dilation = 2, .groups = 2}});
  check_1d({2, 3, 5, 2, 1});
  check_1d({2, 3, 6, 2, 1, {.stride = 2, .padding = 1}});
  check_1d({1, 2, 1, 3, 3, {.padding = 1}});
}

TEST(Conv1d, OneChannelAGroup) {
  check_1d({2, 5, 17, 5, 3, {.padding = 1, .groups = 5}});
  check_1d({2, 3, 13, 6, 4, {.stride = 2, .padding = 2, .groups = 3}});
  check_1d({1, 2, 9, 2, 2, {.dilation = 3, .groups = 2}});
  check_1d({2, 1, 65, 3, 5});
}

TEST(Conv2d, OddSizesStridesPaddingsAndDilations) {
  check_2d({{1, 1, 1, 1}, {1, 1, 1, 1}});
  check_2d({{2, 3, 5, 7}, {4, 3, 3, 2}});
  check_2d({{2, 2, 7, 5}, {3, 2, 3, 3}, {.stride = {2, 1}, .padding = {1, 2}}});
  check_2d({{1, 4, 6, 7}, {4, 2, 2, 3}, {.padding = 2, .dilation = {3, 2}, .groups = 2}});
  check_2d({{2, 6, 4, 3}, {5, 6, 1, 1}});
  check_2d({{2, 3, 5, 5}, {2, 3, 1, 1}, {.stride = 2}});
  check_2d({{1, 2, 1, 1}, {2, 2, 5, 5}, {.padding = 2}});
}

TEST(Conv2d, OneChannelAGroup) {
  check_2d({{2, 4, 6, 9}, {4, 1, 3, 3}, {.padding = 1, .groups = 4}});
  check_2d({{1, 3, 7, 8}, {6, 1, 2, 3}, {.stride = {1, 2}, .padding = {0, 1}, .groups = 3}});
}

TEST(Conv, EmptyBatchesAndChannels) {
  check_1d({0, 3, 7, 4, 3});
  check_1d({2, 0, 7, 4, 3});
  check_1d({2, 3, 7, 0, 3});
  check_1d({0, 3, 7, 3, 3, {.groups = 3}});
  check_2d({{0, 2, 5, 5}, {3, 2, 3, 3}, {.padding = 1}});
}

TEST(Conv, LargeShapesGoThroughBlocksOfPixelsAndChannels) {
  check_1d({2, 130, 301, 33, 5, {.padding = 2}});
  check_1d({1, 24, 1025, 16, 3, {.groups = 2}});
  check_2d({{3, 20, 33, 29}, {24, 20, 3, 3}, {.padding = 1}});
  check_2d({{5, 3, 35, 33}, {16, 3, 5, 5}, {.stride = 2, .padding = 2}});
  check_2d({{2, 40, 17, 19}, {63, 40, 1, 1}});
  check_2d({{2, 24, 31, 33}, {24, 1, 3, 3}, {.padding = 1, .groups = 24}});
}

TEST(Conv, WithoutBiasAndWithAConstantFilter) {
  check_op({.name = "no bias", .shapes = {{2, 3, 7}, {4, 3, 3}}, .op = [](auto in) {
              return conv1d(in[0], in[1]);
            }});
  check_op({.name = "constant filter", .shapes = {{2, 2, 4, 5}}, .op = [](auto in) {
              return conv2d(in[0], ones({3, 2, 2, 2}, in[0].dtype()));
            }});
  check_op({.name = "constant input", .shapes = {{3, 2, 2, 2}}, .op = [](auto in) {
              return conv2d(ones({1, 2, 4, 5}, in[0].dtype()), in[0]);
            }});
}

TEST(Conv, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              conv1d(ones({3, 7}), ones({4, 3, 3}));
            }),
            "[conv1d] x [3, 7] and weight [4, 3, 3]: x must be [B, C, L] and weight [O, C / "
            "groups, K]");
  EXPECT_EQ(error_message([] {
              conv1d(ones({1, 3, 7}), ones({4, 2, 3}));
            }),
            "[conv1d] weight [4, 2, 3] for x [1, 3, 7] in 1 groups: its second size must be 3");
  EXPECT_EQ(error_message([] {
              conv1d(ones({1, 3, 7}), ones({4, 3, 3}), {.groups = 2});
            }),
            "[conv1d] 2 groups of 3 input and 4 output channels: groups must divide both");
  EXPECT_EQ(error_message([] {
              conv1d(ones({1, 1, 4}), ones({1, 1, 3}), {.dilation = 2});
            }),
            "[conv1d] a kernel of 3 (dilation 2) does not fit an axis of size 4 with padding 0: it "
            "reaches over 5");
  EXPECT_EQ(error_message([] {
              conv2d(ones({1, 1, 4, 4}), ones({2, 1, 3, 3}), {.bias = ones({3})});
            }),
            "[conv2d] bias [3] for weight [2, 1, 3, 3]: it must be [2]");
  EXPECT_EQ(error_message([] {
              conv2d(ones({1, 1, 4, 4}), ones({1, 1, 3, 3}, DType::f64));
            }),
            "[conv2d] x is f32, weight f64: they must agree; cast one of them");
  const Tensor x = ones({1, 1, 4});
  const Tensor w = ones({1, 1, 2});
  EXPECT_THROW(conv1d(x, w, {.stride = 0}), Error);
  EXPECT_THROW(conv1d(x, w, {.padding = -1}), Error);
  EXPECT_THROW(conv1d(x, w, {.dilation = 0}), Error);
  EXPECT_THROW(conv1d(x, w, {.groups = 0}), Error);
  EXPECT_THROW(conv1d(x, ones({1, 1, 0})), Error);
  EXPECT_THROW(conv1d(x, w, {.dilation = std::int64_t{1} << 62}), Error);
  EXPECT_THROW(conv1d(ones({1, 1, 4}, DType::i64), ones({1, 1, 2}, DType::i64)), Error);
  EXPECT_THROW(conv2d(x, w), Error);
}

// "2,1" or "2".
Size2d pair(const Golden& g, const std::string& name) {
  std::istringstream text(g.text(name));
  std::int64_t first = 0, second = 0;
  char comma = 0;
  text >> first;
  return text >> comma >> second ? Size2d(first, second) : Size2d(first);
}

TEST(Conv, AsInPyTorch) {
  for (const std::string suffix :
       {"", "_no_bias", "_stride", "_dilation", "_groups", "_depthwise", "_all"}) {
    check_golden("conv1d" + suffix, [](const Golden& g) -> Named {
      const auto number = [&](const char* name) {
        return static_cast<std::int64_t>(g.number(name));
      };
      return {{"y", conv1d(g["x"], g["weight"],
                           {.bias = g.has("bias") ? g["bias"] : Tensor(),
                            .stride = number("stride"),
                            .padding = number("padding"),
                            .dilation = number("dilation"),
                            .groups = number("groups")})}};
    });
    check_golden("conv2d" + suffix, [](const Golden& g) -> Named {
      return {{"y", conv2d(g["x"], g["weight"],
                           {.bias = g.has("bias") ? g["bias"] : Tensor(),
                            .stride = pair(g, "stride"),
                            .padding = pair(g, "padding"),
                            .dilation = pair(g, "dilation"),
                            .groups = static_cast<std::int64_t>(g.number("groups"))})}};
    });
  }
}

}  // namespace
}  // namespace heed
