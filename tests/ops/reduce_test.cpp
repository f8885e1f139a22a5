// Reductions over axes: values, gradients and messages.
#include "heed/ops/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/ops/elementwise.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_op;

struct Case {
  Shape shape;
  Dims axes = {};
};
const Case kCases[] = {
    {{}},
    {{1}},
    {{7}},
    {{17}, {0}},
    {{3, 65}, {1}},
    {{63, 2}, {0}},
    {{3, 5, 7}},
    {{3, 5, 7}, {1}},
    {{3, 5, 7}, {-1}},
    {{3, 5, 7}, {0, 2}},
    {{3, 5, 7}, {2, 1}},
    {{2, 3, 2, 5}, {0, 2}},
    {{2, 3, 2, 5}, {1, 3}},
    {{2, 1, 3}, {1}},
    {{300, 301}, {0}},
    {{300, 301}, {1}},
    {{7, 30, 40}, {0, 2}},
};

TEST(Reductions, SumMeanAndVarianceOverAnyAxes) {
  for (const Case& c : kCases) {
    for (const bool keep : {false, true}) {
      const auto check = [&](const char* name, auto reduction) {
        check_op({.name = name + to_string(c.shape) + to_string(c.axes),
                  .shapes = {c.shape},
                  .op = [=](auto in) { return reduction(in[0], c.axes, {.keep_axes = keep}); },
                  .tolerance = 1e-5});
      };
      check("sum", sum);
      check("mean", mean);
      check("variance", variance);
    }
  }
}

TEST(Reductions, ExtremesOverAnyAxes) {
  for (const Case& c : kCases) {
    for (const bool keep : {false, true}) {
      check_op({.name = "max", .shapes = {c.shape}, .op = [=](auto in) {
                  return max(in[0], c.axes, {.keep_axes = keep});
                }});
      check_op({.name = "min", .shapes = {c.shape}, .op = [=](auto in) {
                  return min(in[0], c.axes, {.keep_axes = keep});
                }});
    }
  }
}

TEST(Reductions, ShapesOfTheResult) {
  const Tensor x = ones({2, 3, 5});
  EXPECT_EQ(sum(x).shape(), (Shape{}));
  EXPECT_EQ(sum(x, {1}).shape(), (Shape{2, 5}));
  EXPECT_EQ(sum(x, {-1, 0}).shape(), (Shape{3}));
  EXPECT_EQ(sum(x, {-1, 0}, {.keep_axes = true}).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(max(x, {}, {.keep_axes = true}).shape(), (Shape{1, 1, 1}));
}

TEST(Reductions, OfNothing) {
  check_op({.name = "sum", .shapes = {{0, 3}}, .op = [](auto in) { return sum(in[0], {0}); }});
  check_op({.name = "sum rows", .shapes = {{0, 3}}, .op = [](auto in) { return sum(in[0], {1}); }});
  check_op({.name = "max rows", .shapes = {{0, 3}}, .op = [](auto in) { return max(in[0], {1}); }});
  EXPECT_EQ(sum(zeros({0, 3}), {0}).to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(std::isnan(mean(zeros({0})).item()));
  EXPECT_EQ(error_message([] {
              max(zeros({0, 3}), {0});
            }),
            "[max] shape [0, 3]: nothing to choose from along an empty axis");
  EXPECT_THROW(min(zeros({0})), Error);
}

TEST(Reductions, TiesShareTheGradient) {
  Tensor x = from_values({3.0f, 1.0f, 3.0f, 3.0f}, {4}).requires_grad();
  (max(x) * 6.0).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 0, 2, 2}));
  x.set_grad({});
  (min(x) * 6.0).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0, 6, 0, 0}));
}

TEST(Reductions, NanGoesThrough) {
  const Tensor x = from_values({1.0f, std::numeric_limits<float>::quiet_NaN(), 2.0f}, {3});
  for (const Tensor& y : {sum(x), mean(x), max(x), min(x), variance(x)}) {
    EXPECT_TRUE(std::isnan(y.item()));
  }
}

TEST(Reductions, VarianceOfLargeNumbersIsNotLost) {
  // E[x^2] - E[x]^2 would give 0 or nonsense here.
  const Tensor x = from_values({10000.0f, 10001.0f, 10002.0f}, {3});
  EXPECT_NEAR(variance(x).item(), 2.0 / 3.0, 1e-3);
}

TEST(Reductions, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              sum(ones({2, 3}), {2});
            }),
            "[sum] axis 2 is outside a tensor of 2 dimensions: use -2 to 1");
  EXPECT_THROW(mean(ones({2}), {-2}), Error);
  EXPECT_EQ(error_message([] {
              sum(ones({2, 3}), {1, -1});
            }),
            "[sum] axes [1, -1] name axis 1 twice");
  EXPECT_EQ(error_message([] { max(ones({2}, DType::i64)); }),
            "[max] dtype i64: this op computes in f32 or f64; use cast(x, DType::f32)");
}

}  // namespace
}  // namespace heed
