// Cross entropy as a user calls it: values and gradients, goldens, ignored rows, bad targets.
#include "heed/ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/autograd/tape.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"
#include "tests/support/golden.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::check_op;
using test::Golden;
using test::Named;

// Classes for a shape, every fifth row ignored.
template <typename I>
Tensor some_targets(const Shape& shape, std::int64_t classes) {
  Tensor targets = empty(shape, dtype_of<I>);
  const auto values = targets.mutable_values<I>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = i % 5 == 4 ? I{-100} : static_cast<I>(i * 7 % static_cast<std::size_t>(classes));
  }
  return targets;
}

TEST(CrossEntropy, EverySizeSmoothingAndReduction) {
  const std::pair<Shape, std::int64_t> cases[] = {{{}, 7},  {{3}, 1},    {{6}, 17}, {{2, 3}, 65},
                                                  {{0}, 4}, {{40}, 900}, {{7}, 63}, {{3}, 5000}};
  for (const auto& [shape, classes] : cases) {
    const Tensor targets = some_targets<std::int64_t>(shape, classes);
    Shape logits = shape;
    logits.push_back(classes);
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
        check_op({.name = "cross_entropy",
                  .shapes = {logits},
                  .op =
                      [=](auto in) {
                        return cross_entropy(
                            in[0], targets, {.label_smoothing = smoothing, .reduction = reduction});
                      },
                  .low = -6.0,
                  .high = 6.0});
      }
    }
  }
}

TEST(CrossEntropy, AgreesWithPyTorch) {
  for (const char* name :
       {"cross_entropy", "cross_entropy_label_smoothing", "cross_entropy_ignore_index",
        "cross_entropy_ignore_index_label_smoothing",
        "cross_entropy_ignore_index_label_smoothing_sum", "cross_entropy_label_smoothing_none"}) {
    test::check_golden(name, [](const Golden& g) {
      CrossEntropyOptions options{.label_smoothing = g.number("label_smoothing")};
      if (g.metadata.contains("ignore_index")) {
        options.ignore_index = static_cast<std::int64_t>(g.number("ignore_index"));
      }
      const std::string& reduction = g.text("reduction");
      options.reduction = reduction == "mean"  ? Reduction::mean
                          : reduction == "sum" ? Reduction::sum
                                               : Reduction::none;
      return Named{{"y", cross_entropy(g["logits"], g["target"], options)}};
    });
  }
}

TEST(CrossEntropy, NarrowTargetsAndStridedTargetsGiveTheSame) {
  Generator generator(2);
  const Tensor logits = normal({4, 6, 33}, 0.0, 2.0, generator);
  const Tensor wide = some_targets<std::int64_t>({4, 6}, 33);
  const Tensor narrow = some_targets<std::int32_t>({4, 6}, 33);
  EXPECT_TRUE(test::same_bits(cross_entropy(logits, wide), cross_entropy(logits, narrow)));
  const Tensor across = transpose(clone(transpose(wide)));
  ASSERT_FALSE(across.contiguous());
  EXPECT_TRUE(test::same_bits(cross_entropy(logits, wide), cross_entropy(logits, across)));
}

TEST(CrossEntropy, LargeAndMaskedLogits) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Tensor targets = from_values<std::int64_t>({1, 0}, {2});
  Tensor x = from_values({1e30f, 1e30f, -1e30f, 2.0f, -kInfinity, -kInfinity}, {2, 3});
  x.requires_grad();
  const Tensor loss = cross_entropy(x, targets, {.reduction = Reduction::none});
  EXPECT_FLOAT_EQ(loss.to_vector<float>()[0], std::log(2.0f));
  EXPECT_FLOAT_EQ(loss.to_vector<float>()[1], 0.0f);
  backward(loss, ones({2}));
  EXPECT_EQ(x.grad().to_vector<float>()[5], 0.0f);
}

TEST(CrossEntropy, AMaximumInALaterBlockRescalesTheSum) {
  Tensor x = full({1, 10000}, -1.0);
  x.mutable_data<float>()[7000] = 30.0f;  // seen after thousands of smaller ones
  const double others = 9999.0 * std::exp(-31.0);
  const Tensor first = from_values<std::int64_t>({0}, {1});
  EXPECT_NEAR(cross_entropy(x, first).item(), 31.0 + std::log1p(others), 1e-5);
  x.mutable_data<float>()[7000] = -1.0f;
  EXPECT_NEAR(cross_entropy(x, first).item(), std::log(10000.0), 1e-5);
}

TEST(CrossEntropy, NothingCountedIsZeroWithZeroGradient) {
  Tensor x = ones({2, 3}).requires_grad();
  const Tensor loss = cross_entropy(x, full({2}, -100, DType::i64));
  EXPECT_EQ(loss.item(), 0.0);
  loss.backward();
  EXPECT_TRUE(test::same_bits(x.grad(), zeros({2, 3})));
}

TEST(CrossEntropy, TargetsMayBeReusedBeforeBackward) {
  Tensor targets = from_values<std::int64_t>({1}, {1});
  Tensor x = zeros({1, 2}).requires_grad();
  const Tensor loss = cross_entropy(x, targets);
  targets.mutable_data<std::int64_t>()[0] = 1'000'000;
  loss.backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{0.5f, -0.5f}));
}

TEST(CrossEntropy, WrongUseSaysWhatIsWrong) {
  const Tensor x = ones({2, 3});
  EXPECT_EQ(error_message([&] {
              cross_entropy(x, from_values<std::int64_t>({0, 3}, {2}));
            }),
            "[cross_entropy] the target of row 1 is 3: it must be a class from 0 to 2, or "
            "ignore_index, which is -100");
  EXPECT_EQ(error_message([&] {
              cross_entropy(x, from_values<std::int32_t>({-1, 0}, {2}));
            }),
            "[cross_entropy] the target of row 0 is -1: it must be a class from 0 to 2, or "
            "ignore_index, which is -100");
  EXPECT_EQ(error_message([&] { cross_entropy(x, zeros({3}, DType::i64)); }),
            "[cross_entropy] logits [2, 3] and targets [3]: the targets must be [2], one class "
            "per row");
  EXPECT_EQ(error_message([&] { cross_entropy(x, zeros({2})); }),
            "[cross_entropy] targets are f32: classes are i64 or i32");
  EXPECT_EQ(error_message([&] {
              cross_entropy(ones({2, 0}), zeros({2}, DType::i64));
            }),
            "[cross_entropy] logits [2, 0]: the last axis must hold at least one class");
  EXPECT_EQ(
      error_message([&] { cross_entropy(x, zeros({2}, DType::i64), {.label_smoothing = 1.5}); }),
      "[cross_entropy] label_smoothing 1.5: it must be from 0 to 1");
}

}  // namespace
}  // namespace heed
