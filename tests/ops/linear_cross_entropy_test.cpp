// The fused last layer against its plain twin, cross_entropy(linear(x, W), targets).
#include "heed/ops/linear_cross_entropy.h"

#include <gtest/gtest.h>

#include "heed/autograd/tape.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

Tensor some_targets(const Shape& shape, std::int64_t classes) {
  Tensor targets = empty(shape, DType::i64);
  const auto values = targets.mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 5 == 4 ? -100 : static_cast<std::int64_t>(i * 7) % classes;
  }
  return targets;
}

TEST(LinearCrossEntropy, EverySizeSmoothingAndReduction) {
  const std::tuple<Shape, std::int64_t, std::int64_t> cases[] = {
      {{}, 3, 7}, {{3}, 1, 1}, {{2, 3}, 17, 65}, {{0}, 4, 4}, {{7}, 5, 63}, {{40}, 3, 900}};
  for (const auto& [shape, features, classes] : cases) {
    const Tensor targets = some_targets(shape, classes);
    Shape x = shape;
    x.push_back(features);
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
        const CrossEntropyOptions options{.label_smoothing = smoothing, .reduction = reduction};
        test::check_op({.name = "linear_cross_entropy",
                        .shapes = {x, {classes, features}},
                        .op = [=](auto in) {
                          return linear_cross_entropy(in[0], in[1], targets, options).loss;
                        }});
      }
    }
  }
}

// More rows than a block takes (at least 64, for a vocabulary beyond 65536).
TEST(LinearCrossEntropy, BlocksAddUpToThePlainTwin) {
  const std::int64_t rows = 150, features = 6, classes = 70000;
  const Tensor targets = some_targets({rows}, classes);
  const auto drawn = [](const Shape& shape, std::uint64_t seed) {
    Generator generator(seed);
    return normal(shape, 0.0, 1.0, generator).requires_grad();
  };
  const Tensor x = drawn({rows, features}, 1), w = drawn({classes, features}, 2);
  const CrossEntropyOptions options{.label_smoothing = 0.1};
  (cross_entropy(linear(x, w), targets, options) * 3.0).backward();
  const Tensor dx = x.grad(), dw = w.grad();
  Tensor x2 = x.detach().requires_grad(), w2 = w.detach().requires_grad();
  const LinearCrossEntropy fused = linear_cross_entropy(x2, w2, targets, options);
  (fused.loss * 3.0).backward();
  EXPECT_LE(test::max_relative_error(x2.grad(), dx), 1e-5);
  EXPECT_LE(test::max_relative_error(w2.grad(), dw), 1e-5);
  const double plain = cross_entropy(linear(x, w), targets, options).item();
  EXPECT_NEAR(fused.loss.item(), plain, 1e-5 * plain);
  EXPECT_EQ(fused.counted, 120);
  const double likelihood =
      cross_entropy(linear(x, w), targets, {.reduction = Reduction::sum}).item();
  EXPECT_NEAR(fused.negative_log_likelihood, likelihood, 1e-5 * likelihood);
}

TEST(LinearCrossEntropy, AnyNumberOfRowsAtOnceIsTheSameLoss) {
  const Tensor targets = some_targets({23}, 9);
  for (const std::int64_t at_once : {1, 4, 22, 23, 24}) {
    test::check_op(
        {.name = "linear_cross_entropy", .shapes = {{23, 5}, {9, 5}}, .op = [=](auto in) {
           return linear_cross_entropy(in[0], in[1], targets, {}, at_once).loss;
         }});
  }
  EXPECT_EQ(error_message([&] {
              linear_cross_entropy(zeros({23, 5}), zeros({9, 5}), targets, {}, -1);
            }),
            "[linear_cross_entropy] rows_at_once -1: it must be 1 or more, or 0 to choose "
            "automatically");
}

TEST(LinearCrossEntropy, WithoutTheTapeOnlyTheLoss) {
  const Tensor x = randn({4, 3}).requires_grad(), w = randn({5, 3}).requires_grad();
  const Tensor targets = some_targets({4}, 5);
  const NoGrad off;
  EXPECT_FALSE(linear_cross_entropy(x, w, targets).loss.tracks_grad());
}

TEST(LinearCrossEntropy, WrongUseSaysWhatIsWrong) {
  const Tensor x = zeros({2, 3}), w = zeros({5, 3});
  EXPECT_EQ(error_message([&] {
              linear_cross_entropy(x, zeros({5, 4}), some_targets({2}, 5));
            }),
            "[linear_cross_entropy] x [2, 3] and weight [5, 4]: weight must be [classes, features] "
            "with the features of x");
  EXPECT_EQ(error_message([&] { linear_cross_entropy(x, w, some_targets({3}, 5)); }),
            "[linear_cross_entropy] x [2, 3] and targets [3]: the targets must be [2], one class a "
            "row");
  EXPECT_EQ(
      error_message([&] {
        linear_cross_entropy(x, w, some_targets({2}, 5), {.reduction = Reduction::none});
      }),
      "[linear_cross_entropy] reduction none: use cross_entropy for the losses of single rows");
  EXPECT_EQ(error_message([&] { linear_cross_entropy(x, w, full({2}, 5, DType::i64)); }),
            "[cross_entropy] the target of row 0 is 5: it must be a class from 0 to 4, or "
            "ignore_index, which is -100");
}

}  // namespace
}  // namespace heed
