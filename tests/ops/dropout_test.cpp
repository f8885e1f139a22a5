// Dropout as a user calls it: values and gradients under a fixed mask, and the mask itself.
#include "heed/ops/dropout.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_op;

TEST(Dropout, EverySize) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{17}, Shape{3, 63}, Shape{5, 13},
                             Shape{0, 4}, Shape{3, 100, 67}}) {
    for (const double p : {0.0, 0.1, 0.9}) {
      check_op({.name = "dropout", .shapes = {shape}, .op = [p](auto in) {
                  Generator generator(5);
                  return dropout(in[0], p, generator);
                }});
      check_op({.name = "dropout_add", .shapes = {shape, shape}, .op = [p](auto in) {
                  Generator generator(5);
                  return dropout_add(in[0], p, in[1], generator);
                }});
    }
  }
}

TEST(Dropout, DropsTheWantedShareAndKeepsTheMean) {
  constexpr std::int64_t kCount = 1'000'000;
  for (const double p : {0.1, 0.5, 0.75}) {
    Generator generator(9);
    const std::vector<float> y = dropout(ones({kCount}), p, generator).to_vector<float>();
    const auto kept = static_cast<float>(1.0 / (1.0 - p));
    std::int64_t dropped = 0;
    for (const float v : y) {
      EXPECT_TRUE(v == 0.0f || v == kept);
      dropped += v == 0.0f ? 1 : 0;
    }
    // Five standard deviations.
    EXPECT_NEAR(static_cast<double>(dropped) / kCount, p, 5 * std::sqrt(p * (1 - p) / kCount));
  }
}

TEST(Dropout, TheMaskIsTheStreamOfTheGenerator) {
  Generator generator(77);
  generator.next();  // the next stream is number 1
  const std::vector<float> y = dropout(ones({3, 5}), 0.5, generator).to_vector<float>();
  const RandomStream random{77, 1};
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y[i], random.bits(i) < 0x80000000u ? 0.0f : 2.0f) << i;
  }
  EXPECT_EQ(generator.state(), (Generator::State{77, 2}));
}

TEST(Dropout, TheGradientPassesWhereTheValueDid) {
  Generator generator(4);
  Tensor x = ones({1000}).requires_grad();
  Tensor residual = ones({1000}).requires_grad();
  const Tensor y = dropout_add(x, 0.5, residual, generator);
  backward(y, ones({1000}));
  EXPECT_TRUE(test::same_bits(x.grad(), y.detach() - 1.0));
  EXPECT_TRUE(test::same_bits(residual.grad(), ones({1000})));
}

TEST(Dropout, EachCallDrawsAnew) {
  Generator generator(4);
  const Tensor x = ones({100});
  EXPECT_FALSE(test::same_bits(dropout(x, 0.5, generator), dropout(x, 0.5, generator)));
}

TEST(Dropout, ZeroProbabilityIsNoOp) {
  Generator generator(4);
  const Tensor x = ones({3});
  EXPECT_EQ(dropout(x, 0.0, generator).data<float>(), x.data<float>());
  EXPECT_TRUE(test::same_bits(dropout_add(x, 0.0, x, generator), full({3}, 2.0)));
  EXPECT_EQ(generator.state(), Generator(4).state());
}

TEST(Dropout, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { dropout(ones({3}), 1.0); }),
            "[dropout] p is 1: the probability of dropping an element must be in [0, 1)");
  EXPECT_EQ(error_message([] { dropout_add(ones({3}), -0.5, ones({3})); }),
            "[dropout_add] p is -0.5: the probability of dropping an element must be in [0, 1)");
  EXPECT_EQ(error_message([] {
              dropout_add(ones({2, 3}), 0.5, ones({3}));
            }),
            "[dropout_add] x is f32 [2, 3], the residual f32 [3]: they must agree");
  EXPECT_EQ(error_message([] { dropout(ones({3}, DType::i64), 0.5); }),
            "[dropout] dtype i64: this op computes in f32 or f64; use cast(x, DType::f32)");
}

}  // namespace
}  // namespace heed
