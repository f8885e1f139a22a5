// Penalties as they are defined, for each token once.
#include "heed/generation/penalties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace heed {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::Pointwise;
using Scores = std::vector<float>;
using Tokens = std::vector<std::int32_t>;

Scores changed(const ScoreChange& change, const Tokens& prefix, Scores scores) {
  change(prefix, scores);
  return scores;
}

TEST(Penalties, RepetitionDividesOrMultipliesOnce) {
  const Scores scores = {3, -3, 6, -6, 0, 9};
  EXPECT_THAT(changed(penalise_repetition(1.5, {}), {}, scores), Pointwise(FloatEq(), scores));
  EXPECT_THAT(changed(penalise_repetition(1.5, {}), {0, 1, 0, 0}, scores),
              ElementsAre(2, -4.5f, 6, -6, 0, 9));
  EXPECT_THAT(changed(penalise_repetition(1.5, Tokens{2, 3, 2}), {0, 2}, scores),
              ElementsAre(2, -3, 4, -9, 0, 9));
  EXPECT_THAT(changed(penalise_repetition(0.5, Tokens{0, 4, 99, -1}), {}, scores),
              ElementsAre(6, -3, 6, -6, 0, 9));
}

// Numbers of RepetitionPenaltyLogitsProcessor(1.3) of transformers 5.22, of logits and of their
// log-softmax, as its beam search uses it.
TEST(Penalties, RepetitionIsThatOfTransformers) {
  const Scores logits = {2, -1.5f, 0.5f, 3.25f, -0.25f, 1.75f, 0, 2.25f};
  const ScoreChange change = penalise_repetition(1.3, Tokens{3, 1, 3});
  EXPECT_THAT(
      changed(change, {5, 6}, logits),
      Pointwise(FloatNear(1e-6f), Scores{2, -1.95f, 0.5f, 2.5f, -0.25f, 1.3461539f, 0, 2.25f}));
  double total = 0.0;
  for (const float logit : logits) total += std::exp(logit);
  Scores log_p;
  for (const float logit : logits) log_p.push_back(logit - static_cast<float>(std::log(total)));
  EXPECT_THAT(
      changed(change, {5, 6}, log_p),
      Pointwise(FloatNear(2e-6f), Scores{-1.9526348f, -7.0884252f, -3.4526348f, -0.9134252f,
                                         -4.2026348f, -2.8634253f, -5.1384249f, -1.7026348f}));
}

TEST(Penalties, CountsAreOfTheText) {
  const Scores scores = {3, -3, 6, -6};
  EXPECT_THAT(changed(penalise_count(0.5, 0), {0, 1, 0, 0}, scores),
              ElementsAre(2.5f, -3.5f, 6, -6));
  EXPECT_THAT(changed(penalise_count(0, 0.5), {0, 1, 0, 0}, scores),
              ElementsAre(1.5f, -3.5f, 6, -6));
  EXPECT_THAT(changed(penalise_count(-1, 2), {3, 3}, scores), ElementsAre(3, -3, 6, -9));
}

TEST(Penalties, ScoresStayOrdered) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(changed(penalise_repetition(0.01, Tokens{0, 1}), {}, {kMost, kNever}),
              ElementsAre(kMost, kNever));
}

}  // namespace
}  // namespace heed
