// Pooling: values, gradients, messages, and what PyTorch computed.
#include "heed/ops/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/ops/reduce.h"
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

void check_1d(const Shape& shape, std::int64_t kernel, const Pool1dOptions& options = {}) {
  check_op({.name = "max_pool1d", .shapes = {shape}, .op = [=](auto in) {
              return max_pool1d(in[0], kernel, options);
            }});
  check_op({.name = "avg_pool1d", .shapes = {shape}, .op = [=](auto in) {
              return avg_pool1d(in[0], kernel, options);
            }});
}

void check_2d(const Shape& shape, Size2d kernel, const Pool2dOptions& options = {}) {
  check_op({.name = "max_pool2d", .shapes = {shape}, .op = [=](auto in) {
              return max_pool2d(in[0], kernel, options);
            }});
  check_op({.name = "avg_pool2d", .shapes = {shape}, .op = [=](auto in) {
              return avg_pool2d(in[0], kernel, options);
            }});
}

TEST(Pool, OddSizesStridesAndPaddings) {
  check_1d({2, 3, 7}, 2);
  check_1d({1, 1, 1}, 1);
  check_1d({2, 2, 17}, 3, {.stride = 1, .padding = 1});
  check_1d({2, 2, 65}, 4, {.stride = 3, .padding = 2, .count_include_pad = false});
  check_1d({1, 2, 5}, 2, {.stride = 4});
  check_1d({1, 1, 1}, 3, {.padding = 1, .count_include_pad = false});
  check_2d({2, 3, 6, 7}, 2);
  check_2d({1, 2, 7, 5}, {3, 2}, {.stride = Size2d(1, 2), .padding = {1, 0}});
  check_2d({2, 1, 5, 9}, {2, 5}, {.stride = 2, .padding = {1, 2}, .count_include_pad = false});
  check_2d({2, 2, 4, 5}, {4, 5});
  check_2d({0, 2, 4, 5}, 2);
  check_2d({2, 0, 4, 5}, 2);
  check_2d({5, 9, 33, 31}, 3, {.stride = 2, .padding = 1});
}

TEST(Pool, MaximaLetNanThroughAndPadWithNothing) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = from_values({-3.0f, -2.0f, nan, -1.0f, -INFINITY, -INFINITY}, {1, 1, 6});
  const std::vector<float> y = max_pool1d(x, 3, {.stride = 1, .padding = 1}).to_vector<float>();
  EXPECT_EQ(y[0], -2.0f);
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(i)])) << i;
  EXPECT_EQ(y[4], -1.0f);
  EXPECT_EQ(y[5], -INFINITY);
}

TEST(Pool, TheGradientOfAMaximumGoesToTheFirstOfEqualsAndTheLastNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor x =
      from_values({1.0f, 2.0f, 2.0f, nan, 0.0f, nan, -INFINITY, -INFINITY, -INFINITY}, {1, 1, 9});
  x.requires_grad();
  sum(max_pool1d(x, 3)).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 1, 0, 0, 0, 1, 1, 0, 0}));
}

TEST(Pool, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              max_pool1d(ones({2, 3}), 2);
            }),
            "[max_pool1d] x [2, 3]: it must be [B, C, L]");
  EXPECT_EQ(error_message([] {
              avg_pool2d(ones({2, 3, 4}), 2);
            }),
            "[avg_pool2d] x [2, 3, 4]: it must be [B, C, H, W]");
  EXPECT_EQ(error_message([] {
              max_pool1d(ones({1, 1, 4}), 3, {.padding = 2});
            }),
            "[max_pool1d] padding 2 for a kernel of 3: it must be at most half the kernel, so that "
            "each window covers an input");
  EXPECT_EQ(error_message([] {
              avg_pool1d(ones({1, 1, 4}), 5);
            }),
            "[avg_pool1d] a kernel of 5 (dilation 1) does not fit an axis of size 4 with padding "
            "0: it reaches over 5");
  EXPECT_THROW(max_pool1d(ones({1, 1, 4}), 0), Error);
  EXPECT_THROW(max_pool1d(ones({1, 1, 4}), 2, {.stride = 0}), Error);
  EXPECT_THROW(max_pool1d(ones({1, 1, 4}), 2, {.padding = -1}), Error);
  EXPECT_THROW(max_pool1d(ones({1, 1, 4}, DType::i64), 2), Error);
}

TEST(Pool, AsInPyTorch) {
  const auto number = [](const Golden& g, const char* name) {
    return static_cast<std::int64_t>(g.number(name));
  };
  const auto counts_padding = [](const Golden& g) {
    const auto found = g.metadata.find("count_include_pad");
    return found == g.metadata.end() || found->second == "true";
  };
  for (const std::string suffix : {"", "_overlap", "_exclude_pad"}) {
    const auto pool_1d = [&](auto op) {
      return [&, op](const Golden& g) -> Named {
        return {{"y", op(g["x"], number(g, "kernel_size"),
                         Pool1dOptions{.stride = number(g, "stride"),
                                       .padding = number(g, "padding"),
                                       .count_include_pad = counts_padding(g)})}};
      };
    };
    const auto pool_2d = [&](auto op) {
      return [&, op](const Golden& g) -> Named {
        return {{"y", op(g["x"], number(g, "kernel_size"),
                         Pool2dOptions{.stride = number(g, "stride"),
                                       .padding = number(g, "padding"),
                                       .count_include_pad = counts_padding(g)})}};
      };
    };
    check_golden("avg_pool1d" + suffix, pool_1d(avg_pool1d));
    check_golden("avg_pool2d" + suffix, pool_2d(avg_pool2d));
    if (suffix == "_exclude_pad") continue;
    check_golden("max_pool1d" + suffix, pool_1d(max_pool1d));
    check_golden("max_pool2d" + suffix, pool_2d(max_pool2d));
  }
}

}  // namespace
}  // namespace heed
