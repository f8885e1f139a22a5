// Layer norm and RMS norm as a user calls them, alone and after a residual sum.
#include "heed/ops/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
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

using NormFunction = Tensor (*)(const Tensor&, const NormOptions&);
using AddNormFunction = NormResidual (*)(const Tensor&, const Tensor&, const NormOptions&);

NormOptions options_of(const Golden& g) {
  return {.weight = g.has("weight") ? g["weight"] : Tensor(),
          .bias = g.has("bias") ? g["bias"] : Tensor(),
          .eps = g.number("eps")};
}

TEST(Norm, EverySizeWithAndWithoutParameters) {
  for (const NormFunction norm : {layer_norm, rms_norm}) {
    for (const Shape& shape : {Shape{1, 2}, Shape{7}, Shape{5, 17}, Shape{2, 3, 63}, Shape{2, 65},
                               Shape{0, 4}, Shape{3, 0}, Shape{300, 7}, Shape{70, 301}}) {
      const Shape features{shape.back()};
      check_op({.name = "norm",
                .shapes = {shape},
                .op = [=](auto in) { return norm(in[0], {}); },
                .tolerance = 1e-5});
      check_op({.name = "norm with weight",
                .shapes = {shape, features},
                .op = [=](auto in) { return norm(in[0], {.weight = in[1]}); },
                .tolerance = 1e-5,
                .gradient_tolerance = 2e-5});
      check_op({.name = "norm with weight and bias",
                .shapes = {shape, features, features},
                .op = [=](auto in) { return norm(in[0], {.weight = in[1], .bias = in[2]}); },
                .tolerance = 1e-5,
                .gradient_tolerance = 2e-5});
      check_op({.name = "norm with bias",
                .shapes = {shape, features},
                .op = [=](auto in) { return norm(in[0], {.bias = in[1]}); },
                .tolerance = 1e-5,
                .gradient_tolerance = 2e-5});
    }
  }
}

// Both outputs, the sum weighted differently from the norm, so that a swap would show.
Tensor both(const NormResidual& result) { return result.y * 2.0 - result.sum; }

TEST(Norm, ResidualSumFusedInFront) {
  for (const AddNormFunction add_norm : {add_layer_norm, add_rms_norm}) {
    for (const Shape& shape :
         {Shape{1, 2}, Shape{7}, Shape{5, 17}, Shape{2, 3, 31}, Shape{0, 4}, Shape{70, 301}}) {
      const Shape features{shape.back()};
      check_op({.name = "add_norm",
                .shapes = {shape, shape, features, features},
                .op =
                    [=](auto in) {
                      return both(add_norm(in[0], in[1], {.weight = in[2], .bias = in[3]}));
                    },
                .tolerance = 1e-5,
                .gradient_tolerance = 5e-5});
      check_op({.name = "add_norm, only y",
                .shapes = {shape, shape},
                .op = [=](auto in) { return add_norm(in[0], in[1], {}).y; },
                .tolerance = 1e-5,
                .gradient_tolerance = 2e-5});
      check_op({.name = "add_norm, only the sum", .shapes = {shape, shape}, .op = [=](auto in) {
                  return add_norm(in[0], in[1], {}).sum;
                }});
    }
  }
}

TEST(Norm, AgreesWithPyTorch) {
  for (const char* name : {"layer_norm", "layer_norm_no_bias", "layer_norm_no_affine"}) {
    check_golden(name, [](const Golden& g) {
      return Named{{"y", layer_norm(g["x"], options_of(g))}};
    });
  }
  for (const char* name : {"rms_norm", "rms_norm_no_affine"}) {
    check_golden(name, [](const Golden& g) {
      return Named{{"y", rms_norm(g["x"], options_of(g))}};
    });
  }
  check_golden("layer_norm_residual", [](const Golden& g) {
    return Named{{"y", add_layer_norm(g["x"], g["r"], options_of(g)).y}};
  });
  check_golden("rms_norm_residual", [](const Golden& g) {
    return Named{{"y", add_rms_norm(g["x"], g["r"], options_of(g)).y}};
  });
  check_golden("layer_norm_residual_sum", [](const Golden& g) {
    const auto [y, sum] = add_layer_norm(g["x"], g["r"], options_of(g));
    return Named{{"y", y}, {"sum", sum}};
  });
  check_golden("rms_norm_residual_sum", [](const Golden& g) {
    const auto [y, sum] = add_rms_norm(g["x"], g["r"], options_of(g));
    return Named{{"y", y}, {"sum", sum}};
  });
}

TEST(Norm, VarianceSurvivesALargeMean) {
  // E[x^2] - E[x]^2 would be all rounding here.
  Tensor x = empty({1, 64});
  for (std::int64_t i = 0; i < 64; ++i) {
    x.mutable_data<float>()[i] = 8192.0f + static_cast<float>(i % 2);
  }
  const std::vector<float> y = layer_norm(x, {.eps = 0.0}).to_vector<float>();
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_FLOAT_EQ(y[i], i % 2 == 0 ? -1.0f : 1.0f);
}

TEST(Norm, ThePlainFormulaGivesTheSame) {
  Generator generator(1);
  const Tensor x = normal({4, 9, 33}, 1.0, 3.0, generator);
  const Tensor weight = normal({33}, 0.0, 1.0, generator);
  const Tensor centred = x - mean(x, {-1}, {.keep_axes = true});
  const Tensor expected = centred * rsqrt(variance(x, {-1}, {.keep_axes = true}) + 1e-5) * weight;
  EXPECT_LE(test::max_relative_error(layer_norm(x, {.weight = weight}), expected), 2e-6);
  const Tensor mean_square = mean(square(x), {-1}, {.keep_axes = true});
  EXPECT_LE(test::max_relative_error(rms_norm(x, {.weight = weight}),
                                     x * rsqrt(mean_square + 1e-5) * weight),
            2e-6);
}

TEST(Norm, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] {
              layer_norm(ones({2, 3}), {.weight = ones({2})});
            }),
            "[layer_norm] the weight is f32 [2], x is f32 [2, 3]: it must be f32 [3], one number "
            "per feature");
  EXPECT_EQ(error_message([] { rms_norm(ones({3}), {.bias = ones({3}, DType::f64)}); }),
            "[rms_norm] the bias is f64 [3], x is f32 [3]: it must be f32 [3], one number per "
            "feature");
  EXPECT_EQ(error_message([] { rms_norm(scalar(1.0)); }),
            "[rms_norm] a scalar has no features to normalise: x needs an axis");
  EXPECT_EQ(error_message([] {
              add_layer_norm(ones({2, 3}), ones({3}));
            }),
            "[add_layer_norm] x is f32 [2, 3], the residual f32 [3]: they must agree");
  EXPECT_EQ(error_message([] { layer_norm(ones({3}, DType::i32)); }),
            "[layer_norm] dtype i32: this op computes in f32 or f64; use cast(x, DType::f32)");
}

}  // namespace
}  // namespace heed
