// Masks and scores of all pairs as tensors: against plain loops and plain ops.
#include "heed/attention/pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heed/attention/masks.h"
#include "heed/attention/stages.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/matmul.h"
#include "heed/ops/reduce.h"
#include "heed/ops/softmax.h"
#include "heed/ops/view.h"
#include "heed/tensor/create.h"
#include "heed/tensor/view.h"
#include "tests/support/op_case.h"

namespace heed::pairs_test {
namespace {

using test::max_relative_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(SeenPairs, AreWhatTheMaskSays) {
  const Tensor seen = dense_mask(causal() & key_lengths({2, 5}), {2, 3, 4, 5});
  ASSERT_EQ(seen.shape(), (Shape{2, 3, 4, 5}));
  const std::vector<bool> all(seen.to_vector<bool>());
  for (std::int64_t at = 0; at < seen.numel(); ++at) {
    const std::int64_t b = at / 60, i = at / 5 % 4, j = at % 5;
    EXPECT_EQ(all[static_cast<std::size_t>(at)], j <= i && j < (b == 0 ? 2 : 5)) << at;
  }
}

TEST(SeenPairs, NothingHiddenIsUndefinedAndEmptyIsFine) {
  EXPECT_FALSE(dense_mask({}, {2, 1, 3, 3}).defined());
  EXPECT_EQ(dense_mask(causal(), {2, 1, 0, 3}).shape(), (Shape{2, 1, 0, 3}));
}

TEST(PairScores, AreTheScoresInOneStripAndInMany) {
  for (const std::int64_t keys : {1, 7, 128, 129, 300}) {
    const Tensor q = randn({2, 4, 9, 6}), k = randn({2, 2, keys, 6}), w = randn({4, 6});
    const Tensor each = reshape(expand(unsqueeze(k, 2), {2, 2, 2, keys, 6}), {2, 4, keys, 6});
    EXPECT_LE(max_relative_error(pair_scores(q, k, dot_score()), matmul(q, transpose(each))), 2e-6);
    const Tensor sums = tanh(unsqueeze(q, 3) + unsqueeze(each, 2));  // [B, H, Tq, Tk, D]
    const Tensor additive = sum(sums * reshape(w, {1, 4, 1, 1, 6}), {4});
    EXPECT_LE(max_relative_error(pair_scores(q, k, additive_score(w)), additive), 2e-6);
  }
}

TEST(PairScores, HaveGradients) {
  test::check_op({.name = "softmax of additive pair_scores",
                  .shapes = {{2, 1, 3, 4}, {2, 1, 5, 4}, {4}},
                  .op = [](std::span<const Tensor> in) {
                    const Tensor seen = dense_mask(causal(), {2, 1, 3, 5});
                    return softmax(pair_scores(in[0], in[1], additive_score(in[2]), seen));
                  }});
}

TEST(PairScores, HiddenKeysAreMinusInfinityAndDoNotLeakEvenAsNan) {
  const Tensor seen = dense_mask(key_lengths({2}), {1, 1, 3, 4});
  Tensor q = randn({1, 1, 3, 5}).requires_grad(), w = randn({5}).requires_grad();
  Tensor k = randn({1, 1, 4, 5});
  for (std::int64_t i = 10; i < 20; ++i) k.mutable_data<float>()[i] = NAN;
  k.requires_grad();
  const Tensor scores = pair_scores(q, k, additive_score(w), seen);
  for (std::int64_t at = 0; at < 12; ++at) {
    const float score = scores.to_vector<float>()[static_cast<std::size_t>(at)];
    EXPECT_TRUE(at % 4 < 2 ? std::isfinite(score) : score == -kInfinity) << at;
  }
  sum(square(softmax(scores))).backward();
  for (const Tensor& leaf : {q, k, w}) {
    for (const float g : leaf.grad().to_vector<float>()) EXPECT_TRUE(std::isfinite(g));
  }
  EXPECT_EQ(max_relative_error(view::slice(k.grad(), 2, 2, 4), zeros({1, 1, 2, 5})), 0.0);
}

TEST(PairScores, NoKeysAreNoScores) {
  EXPECT_EQ(pair_scores(randn({2, 1, 3, 4}), randn({2, 1, 0, 4}), dot_score()).shape(),
            (Shape{2, 1, 3, 0}));
}

}  // namespace
}  // namespace heed::pairs_test
