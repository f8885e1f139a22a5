#include "heed/generation/token_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "heed/autograd/tape.h"
#include "heed/base/flops.h"
#include "heed/tensor/create.h"
#include "tests/support/error_message.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kNever = -std::numeric_limits<float>::infinity();

OutputLayer layer(bool packed) {
  Generator generator(1);
  OutputLayer output(Weight(normal({100, 8}, 0.0, 1.0, generator)),
                     normal({100}, 0.0, 1.0, generator));
  if (packed) output.weight.pack(PackedForm::f32);
  return output;
}

TEST(TokenScores, ThoseOfALayerAreFoundWithAndWithoutAll) {
  const NoGrad no_grad;
  Generator generator(2);
  const Tensor states = normal({3, 8}, 0.0, 1.0, generator);
  const OutputLayer plain = layer(false), packed = layer(true);
  EXPECT_FALSE(plain.can_find_likeliest());
  EXPECT_TRUE(packed.can_find_likeliest());
  for (const bool renormalised : {false, true}) {
    BannedTokens banned{.starts = {0, 1, 1, 3}, .tokens = {7, 2, 50}, .renormalised = renormalised};
    TokenScores all(states, plain), few(states, packed);
    EXPECT_EQ(few.rows(), 3);
    EXPECT_EQ(few.vocabulary(), 100);
    BestTokens expected, found;
    all.find_best(5, banned, expected);
    few.find_best(5, banned, found);
    EXPECT_EQ(found.tokens, expected.tokens);
    for (std::size_t i = 0; i < found.logits.size(); ++i) {
      EXPECT_NEAR(found.logits[i], expected.logits[i], 1e-5);
    }
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto at = static_cast<std::size_t>(row);
      EXPECT_NEAR(found.normalisers[at].log_total, expected.normalisers[at].log_total, 1e-5);
      EXPECT_EQ(found.of(row)[0], expected.of(row)[0]);
      // One score is that of all.
      TokenScores again(states, packed);
      const float one = again.of(row, 33);
      again.compute();
      EXPECT_EQ(one, again.row(row)[33]);
    }
  }
}

TEST(TokenScores, OfARefinedLayerAreThoseOfF32) {
  const NoGrad no_grad;
  Generator generator(2);
  const Tensor states = normal({3, 8}, 0.0, 1.0, generator);
  const OutputLayer plain = layer(false);
  OutputLayer refined = layer(false);
  refined.weight.refined = true;
  refined.weight.pack(PackedForm::int8);
  const BannedTokens none{.starts = {0, 0, 0, 0}};
  BestTokens expected, found;
  TokenScores(states, plain).find_best(5, none, expected);
  TokenScores scores(states, refined);
  scores.find_best(5, none, found);
  EXPECT_EQ(found.tokens, expected.tokens);
  for (std::int64_t row = 0; row < 3; ++row) {
    const auto at = static_cast<std::size_t>(5 * row);
    EXPECT_NEAR(found.logits[at], expected.logits[at], 1e-3);
    EXPECT_EQ(scores.of(row, found.of(row)[0]), found.logits[at]);
  }
}

TEST(TokenScores, AreComputedOnce) {
  const NoGrad no_grad;
  Generator generator(2);
  const Tensor states = normal({3, 8}, 0.0, 1.0, generator);
  const OutputLayer packed = layer(true);
  TokenScores scores(states, packed);
  const FlopCounter counter;
  scores.compute();
  const std::int64_t once = counter.count();
  EXPECT_EQ(once, 2 * 3 * 8 * 100);
  BestTokens best;
  scores.find_best(2, {.starts = {0, 1, 1, 1}, .tokens = {5}, .renormalised = true}, best);
  EXPECT_EQ(scores.row(0)[5], kNever);
  EXPECT_EQ(scores.row(1)[static_cast<std::size_t>(best.of(1)[0])], best.logits[2]);
  EXPECT_EQ(counter.count(), once);
}

TEST(TokenScores, GivenOnesAreUsedAsTheyAre) {
  TokenScores scores(from_values<float>({1, 5, 3, 2}, {1, 4}));
  BestTokens best;
  scores.find_best(3, {.starts = {0, 1}, .tokens = {1}}, best);
  EXPECT_THAT(best.of(0), ElementsAre(2, 3, 0));
  EXPECT_THAT(best.logits, ElementsAre(3, 2, 1));
  EXPECT_EQ(scores.of(0, 1), 5.0f);
  scores.find_best(4, {.starts = {0, 1}, .tokens = {1}, .renormalised = true}, best);
  EXPECT_THAT(best.of(0), ElementsAre(2, 3, 0, kernels::kNoToken));
  EXPECT_EQ(best.logits[3], kNever);
  EXPECT_EQ(scores.of(0, 1), kNever);
}

TEST(TokenScores, MustBeRowsOfF32) {
  EXPECT_THAT(error_message([] { TokenScores(zeros({4})); }),
              HasSubstr("must be [rows, V] of f32"));
  EXPECT_THAT(error_message([] { TokenScores(zeros({1, 4}, DType::f64)); }), HasSubstr("of f64"));
}

}  // namespace
}  // namespace heed
