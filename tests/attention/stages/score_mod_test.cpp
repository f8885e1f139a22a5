#include "heed/attention/stages/score_mod.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "heed/attention/attention.h"
#include "heed/attention/stages.h"
#include "heed/autograd/tape.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/isa_guard.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

struct Outcome {
  Tensor y;
  std::vector<Tensor> gradients;
};

Outcome run(const Modifier& modifier, DType dtype) {
  Generator generator(4);
  std::vector<Tensor> in;
  for (const Shape& shape : {Shape{2, 2, 19, 8}, Shape{2, 2, 33, 8}, Shape{2, 2, 33, 4}}) {
    in.push_back(cast_data(normal(shape, 0.0, 1.0, generator), dtype));
    in.back().requires_grad();
  }
  const Tensor y = attention(in[0], in[1], in[2], {.modifiers = {modifier}});
  backward(y, cast_data(normal(y.shape(), 0.0, 1.0, generator), dtype));
  return {y, {in[0].grad(), in[1].grad(), in[2].grad()}};
}

void expect_same(const Modifier& a, const Modifier& b) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Outcome x = run(a, dtype), y = run(b, dtype);
    EXPECT_LE(test::max_relative_error(x.y, y.y), 1e-6);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LE(test::max_relative_error(x.gradients[i], y.gradients[i]), 1e-5);
    }
  }
}

TEST(ScoreMod, AFunctionCanBeABuiltInStage) {
  test::for_each_isa([](Isa) {
    const auto cap = [](auto s, int, int, int, int) {
      using std::tanh;
      return 2.0f * tanh(s / 2.0f);
    };
    expect_same(score_mod(cap), soft_cap(2.0));
    const auto slope = [](auto s, int, int, int, int) {
      const auto y = std::tanh(s / 2);
      return 1 - y * y;
    };
    expect_same(score_mod(cap, slope), soft_cap(2.0));
  });
}

TEST(ScoreMod, AGivenDerivativeNeedsNoGenericFunction) {
  expect_same(score_mod([](double s, int, int, int, int) { return s * s; },
                        [](double s, int, int, int, int) { return 2.0 * s; }),
              score_mod([](auto s, int, int, int, int) { return s * s; }));
}

TEST(ScoreMod, KnowsWhereItIs) {
  const std::vector<float> slopes{0.1f, 0.03f};
  const auto by_head = [slopes](auto s, int, int h, int i, int j) {
    return s - slopes[static_cast<std::size_t>(h)] * static_cast<float>(std::abs(i - j));
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Modifier built_in = alibi(cast_data(from_values<float>(slopes, {2}), dtype));
    const Outcome a = run(score_mod(by_head), dtype), b = run(built_in, dtype);
    EXPECT_LE(test::max_relative_error(a.y, b.y), 1e-6);
    EXPECT_LE(test::max_relative_error(a.gradients[0], b.gradients[0]), 1e-5);
  }
  const auto by_batch = [](auto s, int b, int, int, int) { return s * static_cast<float>(b); };
  const Outcome y = run(score_mod(by_batch), DType::f32);
  EXPECT_EQ(y.gradients[0].to_vector<float>()[5], 0.0f) << "sequence 0 has scores of 0";
  EXPECT_NE(y.gradients[0].to_vector<float>()[2 * 19 * 8 + 5], 0.0f);
}

TEST(ScoreMod, AHiddenScoreHasNoGradientWhateverTheSlope) {
  // The slope of sqrt is infinite at 0 and NaN below; such scores are hidden by -inf.
  const auto root = [](auto s, int, int, int, int) {
    using std::sqrt;
    return s > 0 ? sqrt(s) : s * 0 - INFINITY;
  };
  const Outcome y = run(score_mod(root), DType::f32);
  for (const Tensor& gradient : y.gradients) {
    for (const float x : gradient.to_vector<float>()) EXPECT_TRUE(std::isfinite(x));
  }
}

TEST(ScoreMod, PositionsFitInt) {
  kernels::AttentionShape shape{.B = 1, .H = 1, .G = 1, .Tq = 1LL << 31, .Tk = 5, .D = 1, .Dv = 1};
  const Modifier modifier = score_mod([](auto s, int, int, int, int) { return s; });
  EXPECT_EQ(modifier.name(), "score_mod");
  EXPECT_EQ(error_message([&] { modifier.impl()->inputs(shape, DType::f32); }),
            "[attention] score_mod counts positions in int: Tq = 2147483648 and Tk = 5 must be at "
            "most 2147483647");
}

}  // namespace
}  // namespace heed
