#include "heed/attention/positions/rope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "heed/ops/matmul.h"
#include "heed/ops/view.h"
#include "heed/tensor/copy.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/error_message.h"
#include "tests/support/op_case.h"

namespace heed {
namespace {

using test::max_relative_error;

// Each pair rotated by its angle, written out; `pair_of` gives the two features.
template <typename Pair>
Tensor turned(const Tensor& x, double scaling, std::int64_t first, Pair pair_of) {
  Tensor y = clone_data(x);
  const std::int64_t T = x.size(2), D = x.size(3), rows = x.numel() / D;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double position = static_cast<double>(row % T + first) / scaling;
    for (std::int64_t k = 0; k < D / 2; ++k) {
      const double angle =
          position * std::pow(10000.0, -2.0 * static_cast<double>(k) / static_cast<double>(D));
      const auto [f, g] = pair_of(k, D);
      const double a = x.data<double>()[row * D + f], b = x.data<double>()[row * D + g];
      y.mutable_data<double>()[row * D + f] = a * std::cos(angle) - b * std::sin(angle);
      y.mutable_data<double>()[row * D + g] = b * std::cos(angle) + a * std::sin(angle);
    }
  }
  return y;
}

TEST(Rope, PairsAreNeighboursAsInGptJ) {
  const Rope rope({.max_length = 4}, {.head = 6});
  const Tensor x = randn({2, 3, 5, 6}, DType::f64);
  const Tensor expected =
      turned(x, 1.0, 2, [](std::int64_t k, std::int64_t) { return std::pair(2 * k, 2 * k + 1); });
  EXPECT_LE(max_relative_error(rope.rotate(x, 2), expected), 1e-14);
}

TEST(Rope, HalvesAreAsInLlama) {
  const Rope rope({.halves = true}, {.head = 6});
  const Tensor x = randn({2, 3, 5, 6}, DType::f64);
  const Tensor expected =
      turned(x, 1.0, 2, [](std::int64_t k, std::int64_t D) { return std::pair(k, k + D / 2); });
  EXPECT_LE(max_relative_error(rope.rotate(x, 2), expected), 1e-14);
}

// Two features and one position: Hugging Face's q * cos + rotate_half(q) * sin by hand.
TEST(Rope, OnePairByHand) {
  const Rope rope({.halves = true}, {.head = 2});
  const Tensor y = rope.rotate(from_values<float>({3, 5}, {1, 1, 1, 2}), 1);
  EXPECT_FLOAT_EQ(y.data<float>()[0], static_cast<float>(3 * std::cos(1.0) - 5 * std::sin(1.0)));
  EXPECT_FLOAT_EQ(y.data<float>()[1], static_cast<float>(5 * std::cos(1.0) + 3 * std::sin(1.0)));
}

TEST(Rope, ScoresDependOnTheDistanceAlone) {
  for (const bool halves : {false, true}) {
    const Rope rope({.halves = halves}, {.head = 8});
    const Tensor q = randn({1, 2, 4, 8}, DType::f64), k = randn({1, 2, 4, 8}, DType::f64);
    const auto scores = [&](std::int64_t of_q, std::int64_t of_k) {
      return matmul(rope.rotate(q, of_q), transpose(rope.rotate(k, of_k)));
    };
    EXPECT_LE(max_relative_error(scores(907, 900), scores(7, 0)), 1e-11);
    EXPECT_GT(max_relative_error(scores(8, 0), scores(7, 0)), 1e-2);
  }
}

TEST(Rope, ScalingSqueezesPositions) {
  const Rope plain({}, {.head = 4}), scaled({.scaling = 4.0}, {.head = 4});
  const Tensor x = randn({1, 1, 1, 4}, DType::f64);
  EXPECT_LE(max_relative_error(scaled.rotate(x, 12), plain.rotate(x, 3)), 1e-15);
}

TEST(Rope, OnlyTheFirstFeaturesAreRotated) {
  for (const bool halves : {false, true}) {
    const Rope partial({.halves = halves, .rotary_features = 4}, {.head = 10});
    const Rope whole({.halves = halves}, {.head = 4});
    const Tensor x = randn({2, 3, 5, 10}, DType::f64);
    const Tensor y = partial.rotate(x, 2);
    const auto part = [](const Tensor& of, std::int64_t begin, std::int64_t end) {
      return clone_data(view::slice(of, 3, begin, end));
    };
    EXPECT_TRUE(test::same_bits(part(y, 0, 4), clone_data(whole.rotate(part(x, 0, 4), 2))));
    EXPECT_TRUE(test::same_bits(part(y, 4, 10), part(x, 4, 10)));
  }
}

// The factor is that of queries and that of keys, so that scores have its square.
TEST(Rope, TheAttentionFactorOfYarnLengthensTheRotatedFeatures) {
  const Rope rope({.rotary_features = 4,
                   .scaling = 1.0,
                   .scaling_kind = RopeScaling::yarn,
                   .original_length = 64,
                   .attention_factor = 1.5},
                  {.head = 6});
  const Rope plain({.rotary_features = 4}, {.head = 6});
  const Tensor x = randn({1, 2, 3, 6}, DType::f64);
  const Tensor y = rope.rotate(x, 5), expected = plain.rotate(x, 5);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double factor = i % 6 < 4 ? 1.5 : 1.0;
    EXPECT_NEAR(contiguous(y).data<double>()[i], factor * contiguous(expected).data<double>()[i],
                1e-12);
  }
}

TEST(Rope, DynamicAnglesDependOnHowFarACallReaches) {
  const PositionConfig config{
      .scaling = 2.0, .scaling_kind = RopeScaling::dynamic, .original_length = 8};
  const Rope dynamic(config, {.head = 4}), plain({}, {.head = 4});
  const Tensor x = randn({1, 2, 12, 4}, DType::f64);
  const auto first = [](const Tensor& of, std::int64_t n) {
    return clone_data(view::slice(of, 2, 0, n));
  };
  EXPECT_TRUE(test::same_bits(clone_data(dynamic.rotate(first(x, 8))),
                              clone_data(plain.rotate(first(x, 8)))));
  // 12 positions of 8: the base is multiplied by (2 * 12 / 8 - 1)^(4 / 2).
  const Rope longer({.base = 4.0 * 10000.0}, {.head = 4});
  const Tensor whole = dynamic.rotate(x);
  EXPECT_LE(max_relative_error(whole, longer.rotate(x)), 1e-14);
  const Tensor last = clone_data(view::slice(x, 2, 9, 12));
  EXPECT_LE(max_relative_error(dynamic.rotate(last, 9), clone_data(view::slice(whole, 2, 9, 12))),
            1e-15);
  EXPECT_GT(max_relative_error(first(whole, 8), clone_data(dynamic.rotate(first(x, 8)))), 1e-2);
}

TEST(Rope, LaterPositionsAreTheTailOfALongerText) {
  const Rope rope({.max_length = 6}, {.head = 4});
  const Tensor x = randn({2, 2, 9, 4});
  const Tensor tail = rope.rotate(clone_data(view::slice(x, 2, 5, 9)), 5);
  EXPECT_TRUE(test::same_bits(clone_data(tail), clone_data(view::slice(rope.rotate(x), 2, 5, 9))));
}

TEST(Rope, ValuesGradientsLayoutsAndThreads) {
  for (const bool halves : {false, true}) {
    const Rope rope({.max_length = 16, .halves = halves}, {.head = 6});
    test::check_op({.name = halves ? "halves" : "pairs",
                    .shapes = {{2, 3, 7, 6}},
                    .op = [&](std::span<const Tensor> x) { return rope.rotate(x[0], 3); }});
    const Rope partial({.halves = halves, .rotary_features = 4}, {.head = 7});
    test::check_op({.name = halves ? "partial halves" : "partial pairs",
                    .shapes = {{2, 3, 7, 7}},
                    .op = [&](std::span<const Tensor> x) { return partial.rotate(x[0], 3); }});
  }
  EXPECT_EQ(Rope({}, {.head = 4}).rotate(zeros({1, 2, 0, 4})).shape(), (Shape{1, 2, 0, 4}));
}

TEST(Rope, BadInput) {
  EXPECT_EQ(error_message([] { Rope({.halves = true}, {.head = 1}); }),
            "[rope] 1 features of a head are rotated: the number must be even, they are rotated in "
            "pairs");
  EXPECT_EQ(error_message([] { Rope({.rotary_features = 6}, {.head = 4}); }),
            "[rope] rotary_features 6: heads have only 4 features");
  EXPECT_EQ(error_message([] { Rope({.rotary_features = 3}, {.head = 4}); }),
            "[rope] 3 features of a head are rotated: the number must be even, they are rotated in "
            "pairs");
  EXPECT_EQ(error_message([] { Rope({.scaling = 0.0}, {.head = 2}); }),
            "[rope] scaling is 0: it must be above 0");
  EXPECT_EQ(error_message([] {
              Rope({}, {.head = 4}).rotate(zeros({2, 3, 6}));
            }),
            "[rope] x is [2, 3, 6]: it must be [B, H, T, 4]");
}

}  // namespace
}  // namespace heed
