// The fused last layer against its plain twin, cross_entropy(linear(x, W), targets).
#include "heed/ops/linear_cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/autograd/tape.h"
#include "heed/ops/copy_cross_entropy.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
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
    test::check_op(
        {.name = "linear_cross_entropy", .shapes = {{23, 5}, {9, 5}, {9}}, .op = [=](auto in) {
           return linear_cross_entropy(in[0], in[1], targets, {}, at_once, in[2]).loss;
         }});
  }
  EXPECT_EQ(error_message([&] {
              linear_cross_entropy(zeros({23, 5}), zeros({9, 5}), targets, {}, -1);
            }),
            "[linear_cross_entropy] rows_at_once -1: it must be 1 or more, or 0 to choose "
            "automatically");
}

TEST(LinearCrossEntropy, RowsHaveTheirLogLikelihoods) {
  const Tensor x = randn({2, 3, 5}), w = randn({9, 5}), b = randn({9});
  const Tensor targets = some_targets({2, 3}, 9);
  const LinearCrossEntropy fused = linear_cross_entropy(x, w, targets, {}, 4, b);
  const Tensor plain =
      cross_entropy(linear(x, w, {.bias = b}), targets, {.reduction = Reduction::none});  // [2, 3]
  EXPECT_LE(test::max_relative_error(fused.log_likelihoods, -plain), 1e-6);
  const double total = sum(fused.log_likelihoods).item();
  EXPECT_NEAR(-total, fused.negative_log_likelihood, 1e-5);
  EXPECT_EQ(error_message([&] { linear_cross_entropy(x, w, targets, {}, 0, randn({8})); }),
            "[linear_cross_entropy] bias f32 [8]: it must be f32 [9], one for each class");
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

// ---- mixtures with copied words -----------------------------------------------------------------

// Targets with words that the classes lack.
Tensor mixed_targets(const Shape& shape, std::int64_t classes) {
  Tensor targets = some_targets(shape, classes);
  const auto values = targets.mutable_values<std::int64_t>();
  for (std::size_t i = 0; i < values.size(); i += 3)
    values[i] = classes + static_cast<std::int64_t>(i);
  return targets;
}

// -log(g softmax(x W^T + b)[target] + (1 - g) copied), row by row.
Tensor plain_copy_loss(std::span<const Tensor> in, const Tensor& targets,
                       const CrossEntropyOptions& options) {
  const std::int64_t V = in[1].size(0);
  const Tensor scores = linear(in[0], in[1], {.bias = in[4]});  // [N, V]
  const Tensor p = softmax(scores), log_p = log(p);
  const Tensor g = sigmoid(in[2]), copied = sigmoid(in[3]);
  Tensor total;
  std::int64_t counted = 0;
  for (std::int64_t row = 0; row < targets.numel(); ++row) {
    const std::int64_t target = targets.values<std::int64_t>()[static_cast<std::size_t>(row)];
    if (target == options.ignore_index) continue;
    ++counted;
    Tensor mixed = (1.0 - select(g, 0, row)) * select(copied, 0, row);
    if (target < V) mixed = mixed + select(g, 0, row) * select(select(p, 0, row), 0, target);
    const Tensor spread = -mean(select(log_p, 0, row));
    const Tensor loss =
        (1.0 - options.label_smoothing) * -log(mixed) + options.label_smoothing * spread;
    total = total.defined() ? total + loss : loss;
  }
  return options.reduction == Reduction::mean ? total / static_cast<double>(counted) : total;
}

TEST(CopyCrossEntropy, IsTheLogOfTheSumWithItsGradients) {
  for (const std::int64_t classes : {1, 7, 65}) {
    const Tensor targets = mixed_targets({7}, classes);
    for (const double smoothing : {0.0, 0.1}) {
      for (const Reduction reduction : {Reduction::mean, Reduction::sum}) {
        const CrossEntropyOptions options{.label_smoothing = smoothing, .reduction = reduction};
        const std::vector<Shape> shapes = {{7, 3}, {classes, 3}, {7}, {7}, {classes}};
        const auto fused = [=](std::span<const Tensor> in) {
          return copy_cross_entropy(in[0], in[1], targets,
                                    {.gate = in[2], .copied = sigmoid(in[3])}, options, in[4])
              .loss;
        };
        test::check_op({.name = "copy_cross_entropy", .shapes = shapes, .op = fused});
        std::vector<Tensor> in;
        Generator generator(5);
        for (const Shape& shape : shapes) {
          in.push_back(cast(normal(shape, 0.0, 1.0, generator), DType::f64));
        }
        EXPECT_NEAR(fused(in).item(), plain_copy_loss(in, targets, options).item(), 1e-12);
      }
    }
  }
}

TEST(CopyCrossEntropy, AWordThatNothingGivesHasAFiniteLossAndNoGradient) {
  const Tensor targets = from_values<std::int64_t>({9}, {1});
  Tensor x = ones({1, 2}).requires_grad(), w = ones({3, 2}).requires_grad();
  Tensor gate = zeros({1}).requires_grad(), copied = zeros({1}).requires_grad();
  const LinearCrossEntropy loss =
      copy_cross_entropy(x, w, targets, {.gate = gate, .copied = copied});
  EXPECT_NEAR(loss.loss.item(), -std::log(std::numeric_limits<float>::min()), 1e-3);
  loss.loss.backward();
  for (const Tensor& one : {x, w, gate, copied}) EXPECT_EQ(sum(abs(one.grad())).item(), 0.0);
}

TEST(CopyCrossEntropy, BadShapes) {
  EXPECT_EQ(error_message([] {
              copy_cross_entropy(zeros({3, 2}), zeros({4, 2}), zeros({3}, DType::i64),
                                 {.gate = zeros({2}), .copied = zeros({3})});
            }),
            "[copy_cross_entropy] targets [3], gate and copied f32 [2]: there must be one "
            "f32 number of each a row");
}

}  // namespace
}  // namespace heed
