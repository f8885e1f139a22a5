// Batch normalisation as a user calls it, with the statistics of the batch and with given ones.
#include "heed/ops/batch_norm.h"

#include <gtest/gtest.h>

#include "heed/ops/elementwise.h"
#include "heed/ops/reduce.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed::batch_norm_test {
namespace {

using test::check_op;

TEST(BatchNorm, EverySizeWithItsOwnStatistics) {
  for (const Shape& shape : {Shape{2, 1}, Shape{7, 3}, Shape{3, 5, 17}, Shape{2, 3, 9, 7},
                             Shape{4, 65, 1, 1}, Shape{1, 2, 8, 8}, Shape{3, 70, 5, 13}}) {
    const Shape channels{shape[1]};
    check_op({.name = "batch_norm",
              .shapes = {shape},
              .op = [](auto in) { return batch_norm(in[0]).y; },
              .tolerance = 1e-5,
              .gradient_tolerance = 1e-4});
    check_op({.name = "batch_norm with weight and bias",
              .shapes = {shape, channels, channels},
              .op = [](auto in) { return batch_norm(in[0], {.weight = in[1], .bias = in[2]}).y; },
              .tolerance = 1e-5,
              .gradient_tolerance = 1e-4});
  }
}

TEST(BatchNorm, GivenStatisticsAreConstants) {
  const Shape shape{3, 4, 5, 7};
  const auto statistics = [](const Tensor& like) {
    BatchNormOptions options;
    options.mean = full({4}, 0.5, like.dtype());
    options.variance = full({4}, 2.0, like.dtype());
    return options;
  };
  check_op({.name = "batch_norm with given statistics",
            .shapes = {shape, {4}, {4}},
            .op =
                [&](auto in) {
                  BatchNormOptions options = statistics(in[0]);
                  options.weight = in[1];
                  options.bias = in[2];
                  return batch_norm(in[0], options).y;
                },
            .gradient_tolerance = 5e-5});
  const Tensor x = zeros({0, 4, 2, 2});
  EXPECT_EQ(batch_norm(x, statistics(x)).y.shape(), x.shape()) << "an empty batch";
}

// To the bit: the fused op does the same arithmetic, in fewer passes.
TEST(BatchNorm, ASumAndReluMayFollow) {
  const Shape shape{3, 5, 4, 7};
  const auto run = [&](bool fused, bool adds, DType dtype) {
    Generator same(7);
    Tensor x = cast_data(normal(shape, 0.5, 2.0, same), dtype).requires_grad();
    Tensor add = cast_data(normal(shape, 0.0, 1.0, same), dtype).requires_grad();
    Tensor weight = cast_data(normal({5}, 1.0, 0.5, same), dtype).requires_grad();
    Tensor bias = cast_data(normal({5}, 0.0, 0.5, same), dtype).requires_grad();
    const Tensor dy = cast_data(normal(shape, 0.0, 1.0, same), dtype);
    BatchNormOptions options{.weight = weight, .bias = bias};
    Tensor y;
    if (fused) {
      if (adds) options.add = add;
      options.relu = true;
      y = batch_norm(x, options).y;
    } else {
      const Tensor norm = batch_norm(x, options).y;
      y = relu(adds ? norm + add : norm);
    }
    sum(y * dy).backward();
    std::vector<Tensor> all{y.detach(), x.grad(), weight.grad(), bias.grad()};
    if (adds) all.push_back(add.grad());
    return all;
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const bool adds : {false, true}) {
      const auto fused = run(true, adds, dtype), plain = run(false, adds, dtype);
      for (std::size_t i = 0; i < plain.size(); ++i) {
        EXPECT_EQ(test::max_relative_error(fused[i], plain[i]), 0.0) << i;
      }
    }
  }
  check_op({.name = "batch_norm with a sum and relu",
            .shapes = {shape, {5}, {5}, shape},
            .op =
                [](auto in) {
                  return batch_norm(in[0],
                                    {.weight = in[1], .bias = in[2], .add = in[3], .relu = true})
                      .y;
                },
            .tolerance = 1e-5,
            .gradient_tolerance = 1e-4});
  EXPECT_EQ(error_message([] {
              batch_norm(ones({2, 3}), {.add = ones({2, 2})});
            }),
            "[batch_norm] what is added is f32 [2, 2], x is f32 [2, 3]: they must agree");
}

TEST(BatchNorm, ThePlainFormulaGivesTheSame) {
  Generator generator(1);
  const Tensor x = normal({4, 9, 3, 11}, 1.0, 3.0, generator);
  const Tensor centre = mean(x, {0, 2, 3}, {.keep_axes = true});
  const Tensor spread = variance(x, {0, 2, 3}, {.keep_axes = true});
  const BatchNormResult found = batch_norm(x);
  EXPECT_LE(test::max_relative_error(found.y, (x - centre) * rsqrt(spread + 1e-5)), 2e-6);
  EXPECT_LE(test::max_relative_error(found.mean, mean(x, {0, 2, 3})), 1e-6);
  EXPECT_LE(test::max_relative_error(found.variance, variance(x, {0, 2, 3})), 1e-6);
}

TEST(BatchNorm, WrongUseSaysWhatIsWrong) {
  EXPECT_EQ(error_message([] { batch_norm(ones({3})); }),
            "[batch_norm] x [3]: it must be [B, C, …]");
  EXPECT_EQ(error_message([] {
              batch_norm(ones({2, 3}), {.weight = ones({2})});
            }),
            "[batch_norm] the weight is f32 [2], x is f32 [2, 3]: it must be f32 [3], one number "
            "per channel");
  EXPECT_EQ(error_message([] {
              batch_norm(ones({2, 3}), {.mean = ones({3})});
            }),
            "[batch_norm] only one of mean and variance is given: give both, or none");
  EXPECT_EQ(error_message([] {
              batch_norm(ones({0, 3}));
            }),
            "[batch_norm] x [0, 3]: a channel without elements has no mean; give the statistics");
}

}  // namespace
}  // namespace heed::batch_norm_test
