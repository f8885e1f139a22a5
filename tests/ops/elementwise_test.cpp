#include "heed/ops/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/base/error.h"
#include "heed/tensor/create.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using kernels::Unary;
using test::check_op;
using test::OpCase;

struct UnaryCase {
  const char* name;
  Unary op;
  double low, high;
};

// Domains avoid the points where a derivative does not exist (|x| and relu at 0 have measure zero).
const UnaryCase kUnary[] = {
    {"neg", Unary::neg, -3, 3},       {"abs", Unary::abs, -3, 3},
    {"exp", Unary::exp, -3, 2},       {"log", Unary::log, 0.1, 5},
    {"sqrt", Unary::sqrt, 0.1, 5},    {"rsqrt", Unary::rsqrt, 0.2, 5},
    {"square", Unary::square, -3, 3}, {"reciprocal", Unary::reciprocal, 0.3, 4},
    {"relu", Unary::relu, -3, 3},     {"elu", Unary::elu, -3, 3},
    {"gelu", Unary::gelu, -5, 5},     {"gelu_tanh", Unary::gelu_tanh, -5, 5},
    {"silu", Unary::silu, -5, 5},     {"softplus", Unary::softplus, -5, 5},
    {"tanh", Unary::tanh, -4, 4},     {"sigmoid", Unary::sigmoid, -6, 6},
    {"erf", Unary::erf, -3, 3},       {"sin", Unary::sin, -7, 7},
    {"cos", Unary::cos, -7, 7},
};

TEST(Elementwise, EveryUnaryFunctionOnEverySize) {
  for (const UnaryCase& u : kUnary) {
    for (const Shape& shape :
         {Shape{}, Shape{1}, Shape{7}, Shape{17}, Shape{3, 5, 63}, Shape{65}, Shape{0, 4}}) {
      check_op({.name = u.name,
                .shapes = {shape},
                .op = [op = u.op](auto in) { return unary(op, in[0]); },
                .low = u.low,
                .high = u.high});
    }
  }
}

TEST(Elementwise, LargeArraysSplitAcrossThreads) {
  check_op({.name = "gelu", .shapes = {{100003}}, .op = [](auto in) { return gelu(in[0]); }});
  check_op({.name = "add",
            .shapes = {{300, 257}, {257}},
            .op = [](auto in) { return in[0] + in[1]; },
            .gradient_tolerance = 1e-4});
}

TEST(Elementwise, BinaryBroadcasts) {
  const std::pair<Shape, Shape> pairs[] = {
      {{5, 7}, {5, 7}},    {{5, 7}, {7}},  {{5, 1}, {1, 7}}, {{}, {3, 2}},
      {{2, 3, 5}, {3, 1}}, {{1}, {4, 17}}, {{0, 3}, {3}},    {{2, 1, 3, 1}, {5, 1, 7}}};
  for (const auto& [a, b] : pairs) {
    check_op({.name = "add", .shapes = {a, b}, .op = [](auto in) { return in[0] + in[1]; }});
    check_op({.name = "sub", .shapes = {a, b}, .op = [](auto in) { return in[0] - in[1]; }});
    check_op({.name = "mul", .shapes = {a, b}, .op = [](auto in) { return in[0] * in[1]; }});
    check_op(
        {.name = "div", .shapes = {a, b}, .op = [](auto in) { return in[0] / in[1]; }, .low = 0.5});
    check_op(
        {.name = "maximum", .shapes = {a, b}, .op = [](auto in) { return maximum(in[0], in[1]); }});
    check_op(
        {.name = "minimum", .shapes = {a, b}, .op = [](auto in) { return minimum(in[0], in[1]); }});
  }
}

TEST(Elementwise, ScalarsAndPowers) {
  check_op({.name = "affine", .shapes = {{3, 7}}, .op = [](auto in) {
              return 3.0 - in[0] * 0.5 + 1.0;
            }});
  check_op({.name = "over",
            .shapes = {{3, 7}},
            .op = [](auto in) { return 2.0 / in[0] / 4.0; },
            .low = 0.5});
  check_op({.name = "pow3", .shapes = {{9}}, .op = [](auto in) { return pow(in[0], 3.0); }});
  check_op({.name = "pow-1.5",
            .shapes = {{9}},
            .op = [](auto in) { return pow(in[0], -1.5); },
            .low = 0.5});
  check_op(
      {.name = "clamp", .shapes = {{33}}, .op = [](auto in) { return clamp(in[0], -0.7, 0.9); }});
}

TEST(Elementwise, AnInputUsedTwiceCollectsBothGradients) {
  check_op(
      {.name = "x*x+x", .shapes = {{5, 3}}, .op = [](auto in) { return in[0] * in[0] + in[0]; }});
}

TEST(Elementwise, NanGoesThrough) {
  const Tensor x = from_values({NAN, 1.0f}, {2});
  const Tensor y = from_values({1.0f, NAN}, {2});
  for (const UnaryCase& u : kUnary)
    EXPECT_TRUE(std::isnan(unary(u.op, x).to_vector<float>()[0])) << u.name;
  for (const Tensor& z : {maximum(x, y), minimum(x, y), x + y, x * y}) {
    EXPECT_TRUE(std::isnan(z.to_vector<float>()[0]));
    EXPECT_TRUE(std::isnan(z.to_vector<float>()[1]));
  }
}

TEST(Elementwise, WrongUseSaysWhatIsWrong) {
  const auto message = [](auto&& call) {
    try {
      call();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([] {
              ones({2, 3}) + ones({4});
            }),
            "[add] shapes [2, 3] and [4] do not broadcast: sizes 3 and 4 differ and neither is 1");
  EXPECT_EQ(message([] { ones({2}) * ones({2}, DType::f64); }),
            "[mul] f32 and f64 do not mix: cast one of them");
  EXPECT_EQ(message([] { exp(ones({2}, DType::i64)); }),
            "[exp] dtype i64: this op computes in f32 or f64; use cast(x, DType::f32)");
}

}  // namespace
}  // namespace heed
