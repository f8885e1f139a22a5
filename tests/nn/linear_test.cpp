// Linear against PyTorch, with every activation, with and without bias.
#include "heed/nn/linear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradcheck.h"
#include "heed/autograd/tape.h"
#include "heed/ops/reduce.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/nn/golden_module.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

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
  for (const float v : layer.weight.data.values<float>()) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest, 0.05f);
  EXPECT_GT(largest, 0.0495f);
  largest = 0.0f;
  for (const float v : layer.bias.values<float>()) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest, 0.05f);
  EXPECT_GT(largest, 0.04f);
}

TEST(Linear, RowsAreThoseOutputsAlone) {
  Generator generator(6);
  const Tensor x = randn({2, 5, 17});
  for (const bool bias : {true, false}) {
    for (const Activation activation : {Activation::none, Activation::gelu}) {
      const Linear layer({.in = 17, .out = 13, .bias = bias, .activation = activation}, generator);
      const Tensor all = layer(x);  // [2, 5, 13]
      for (const auto& [begin, end] : {std::pair{0, 13}, {0, 1}, {3, 9}, {12, 13}, {4, 4}}) {
        const Tensor some = layer.rows(x, begin, end);
        EXPECT_EQ(some.shape(), (Shape{2, 5, end - begin}));
        EXPECT_LE(test::max_relative_error(some, slice(all, -1, begin, end)), 1e-6)
            << begin << " to " << end;
      }
    }
  }
}

TEST(Linear, RowsPassTheirGradientToTheWholeWeight) {
  Generator generator(7);
  Linear layer({.in = 3, .out = 4, .activation = Activation::tanh}, generator);
  sum(layer.rows(randn({5, 3}), 1, 3)).backward();
  for (const Tensor& parameter : layer.parameters()) {
    ASSERT_TRUE(parameter.grad().defined());
    EXPECT_EQ(parameter.grad().shape(), parameter.shape());
    const std::int64_t row = parameter.numel() / 4;
    for (std::int64_t i = 0; i < parameter.numel(); ++i) {
      const bool inside = i / row == 1 || i / row == 2;
      EXPECT_EQ(parameter.grad().data<float>()[i] != 0.0f, inside) << i;
    }
  }
  layer.to(DType::f64);
  const Tensor x = normal({5, 3}, 0.0, 1.0, generator, DType::f64).requires_grad();
  const GradCheckResult result = gradcheck(
      [&](std::span<const Tensor> in) {
        layer.weight.data = in[1];
        layer.bias = in[2];
        return layer.rows(in[0], 1, 3);
      },
      std::vector{x, layer.weight.data, layer.bias});
  EXPECT_TRUE(result.ok) << result.message;
}

TEST(Linear, MadeFromAWeight) {
  const Tensor matrix = from_values<float>({1, 2, 3, 4, 5, 6}, {3, 2}).requires_grad();
  const Linear first(Weight{matrix}), second(Weight{matrix}, from_values<float>({1, 1, 1}, {3}));
  const Tensor x = from_values<float>({1, -1}, {1, 2});
  EXPECT_EQ(first(x).to_vector<float>(), (std::vector<float>{-1, -1, -1}));
  EXPECT_EQ(second(x).to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(first.weight.data.node(), second.weight.data.node()) << "two layers, one weight";
  EXPECT_THAT(error_message([] { Linear(Weight{zeros({3})}); }),
              testing::HasSubstr("weight must be [out, in]"));
  EXPECT_THAT(error_message([&] { Linear(Weight{matrix}, zeros({2})); }),
              testing::HasSubstr("bias [2] of a weight [3, 2]: it must be [out]"));
}

TEST(Linear, RefusesSizesThatWereNotGiven) {
  EXPECT_THAT(error_message([] { Linear({.in = 3}); }), testing::HasSubstr("in 3, out 0"));
}

TEST(Linear, WithAPackedWeight) {
  const NoGrad no_grad;
  Generator generator(8);
  const Tensor x = randn({2, 5, 17});
  Linear layer({.in = 17, .out = 45, .activation = Activation::gelu}, generator);
  const Tensor expected = layer(x), part = layer.rows(x, 15, 45);
  layer.weight.pack(PackedForm::f32);
  EXPECT_LE(test::max_relative_error(layer(x), expected), 2e-6);
  EXPECT_LE(test::max_relative_error(layer.rows(x, 15, 45), part), 2e-6);
  const Linear same(layer.weight, layer.bias);
  EXPECT_EQ(same.weight.packed, layer.weight.packed);
  EXPECT_THAT(error_message([&] { Linear(layer.weight, zeros({2})); }),
              testing::HasSubstr("bias [2] of a weight [45, 17]: it must be [out]"));
}

}  // namespace
}  // namespace heed
