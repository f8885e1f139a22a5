#include "heed/attention/stages.h"

#include <gtest/gtest.h>

#include "heed/attention/attention.h"
#include "heed/autograd/tape.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/attention/plain_attention.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

TEST(DenseBias, EveryWayOfSharing) {
  const test::CaseSizes s{.B = 2, .H = 2, .G = 1, .Tq = 6, .Tk = 7, .D = 3, .Dv = 2};
  for (int axes = 0; axes < 16; ++axes) {
    std::vector<Shape> shapes = test::operand_shapes(s);
    Shape bias{2, 2, 6, 7};
    for (int i = 0; i < 4; ++i) {
      if ((axes >> i & 1) != 0) bias[i] = 1;
    }
    shapes.push_back(bias);
    test::check_op({.name = "dense_bias " + to_string(bias),
                    .shapes = shapes,
                    .op =
                        [](auto in) {
                          return attention(in[0], in[1], in[2], {.modifiers = {dense_bias(in[3])}});
                        },
                    .tolerance = 4e-6,
                    .gradient_tolerance = 4e-5});
  }
}

TEST(DenseBias, AStretchedTensorCollectsItsGradient) {
  Generator generator(1);
  const Tensor x = normal({2, 1, 4, 3}, 0.0, 1.0, generator, DType::f64);
  const auto gradient = [&](bool stretched) {
    Tensor bias = ones({4, 4}, DType::f64).requires_grad();
    const Tensor given = stretched ? expand(bias, {2, 1, 4, 4}) : bias;
    const Tensor y = attention(x, x, x, {.modifiers = {dense_bias(given)}});
    backward(y, x);
    return bias.grad();
  };
  EXPECT_LE(test::max_relative_error(gradient(true), gradient(false)), 1e-12);
}

TEST(DenseBias, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({1, 2, 3, 4});
  EXPECT_EQ(error_message([] {
              dense_bias(ones({1, 1, 1, 3, 3}));
            }),
            "[dense_bias] bias [1, 1, 1, 3, 3]: at most [B, H, Tq, Tk]");
  EXPECT_EQ(error_message([&] {
              attention(x, x, x, {.modifiers = {dense_bias(ones({3, 4}))}});
            }),
            "[attention] bias of dense_bias [3, 4] does not broadcast to [B, H, Tq, Tk] = "
            "[1, 2, 3, 3]");
  EXPECT_EQ(error_message([&] {
              attention(x, x, x, {.modifiers = {dense_bias(ones({3, 3}, DType::f64))}});
            }),
            "[attention] bias of dense_bias is f64, this call computes in f32: use cast(x, "
            "DType::f32)");
}

}  // namespace
}  // namespace heed
